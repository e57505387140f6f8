#include "sim/replay/program.h"

#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/digest.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/launch/launch.h"
#include "sim/replay/program_format.h"

namespace sm89 {
namespace {

absl::StatusOr<std::string> ReadFile(const std::string& path, const std::string& what) {
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(path, error);
  Fault fault;
  fault.file = path;
  fault.field = what;
  if (error) {
    fault.expected = "a readable file";
    fault.message = error.message();
    return InputError(absl::StatusCode::kNotFound, fault);
  }
  if (size > kMaxProgramBytes) {
    fault.value = absl::StrCat(size, " bytes");
    fault.expected = absl::StrCat("at most ", kMaxProgramBytes, " bytes");
    fault.message = "the file is too large for a program";
    return InputError(absl::StatusCode::kResourceExhausted, fault);
  }
  std::ifstream in(path, std::ios::binary);
  std::string bytes(size, '\0');
  if (!in.read(bytes.data(), static_cast<std::streamsize>(size))) {
    fault.expected = "a readable file";
    fault.message = "cannot be read";
    return InputError(absl::StatusCode::kUnavailable, fault);
  }
  return bytes;
}

// CBOR items appended to a package: an encoder of its own, since a package may be as large as half of memory.
class Encoder {
 public:
  explicit Encoder(std::string* out) : out_(*out) {}

  void Number(uint64_t value) { Head(kUnsigned, value); }
  void Text(std::string_view text) { Append(kText, text); }
  void Array(const std::vector<std::string>& texts) {
    Head(kArray, texts.size());
    for (const std::string& text : texts) Text(text);
  }
  void Files(const std::map<std::string, std::string>& files) {
    Map(files.size());
    for (const auto& [name, bytes] : files) {
      Text(name);
      Append(kBytes, bytes);
    }
  }
  void Map(uint64_t size) { Head(kMap, size); }

 private:
  enum Major : uint8_t { kUnsigned = 0, kBytes = 2, kText = 3, kArray = 4, kMap = 5 };  // RFC 8949, 3.1

  void Append(Major major, std::string_view bytes) {
    Head(major, bytes.size());
    out_.append(bytes);
  }
  // The shortest form: below 24 in the first byte, else 24, 25, 26, 27 there and 1, 2, 4, 8 bytes behind it.
  void Head(Major major, uint64_t value) {
    if (value < 24) {
      out_.push_back(static_cast<char>(major << 5 | value));
      return;
    }
    const int power = value <= UINT8_MAX ? 0 : value <= UINT16_MAX ? 1 : value <= UINT32_MAX ? 2 : 3;
    out_.push_back(static_cast<char>(major << 5 | (24 + power)));
    for (int shift = (8 << power) - 8; shift >= 0; shift -= 8) {
      out_.push_back(static_cast<char>(value >> shift));
    }
  }

  std::string& out_;
};

std::string Encode(const Program& program, std::string_view name, std::string_view launch_name) {
  size_t bytes = program.launch_text.size() + 1024;
  for (const auto* files : {&program.modules, &program.raw_files}) {
    for (const auto& [file, content] : *files) bytes += file.size() + content.size() + 16;
  }
  std::string package(kProgramMagic);
  package.reserve(bytes);
  Encoder encoder(&package);
  encoder.Map(8);
  encoder.Text("arch");
  encoder.Number(program.arch);
  encoder.Text("cases");
  encoder.Array(program.cases);
  encoder.Text("launch_name");
  encoder.Text(launch_name);
  encoder.Text("launch_text");
  encoder.Text(program.launch_text);
  encoder.Text("modules");
  encoder.Files(program.modules);
  encoder.Text("name");
  encoder.Text(name);
  encoder.Text("raw_files");
  encoder.Files(program.raw_files);
  encoder.Text("version");
  encoder.Number(kProgramVersion);
  return package;
}

absl::Status WrongPair(const ProgramPaths& paths, const std::string& expected, const std::string& why) {
  Fault fault;
  fault.file = paths.launches;
  fault.expected = expected;
  fault.message = why;
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

// Adds the modules and raw files of the selected launches.
absl::Status AddFiles(const ProgramPaths& paths, const std::vector<const launch::LaunchSpec*>& selected,
                      Program* program) {
  const std::filesystem::path folder = std::filesystem::path(paths.launches).parent_path();
  uint64_t total = program->launch_text.size();
  const auto add = [&](std::map<std::string, std::string>* files, const std::string& key,
                       const std::string& path, const std::string& what) -> absl::Status {
    if (files->contains(key)) return absl::OkStatus();
    ASSIGN_OR_RETURN(std::string bytes, ReadFile(path, what));
    total += bytes.size();
    if (total > kMaxProgramBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat(paths.launches, ": its files take more than ", kMaxProgramBytes, " bytes"));
    }
    files->emplace(key, std::move(bytes));
    return absl::OkStatus();
  };
  for (const launch::LaunchSpec* spec : selected) {
    const std::string path =
        paths.cubin.empty() ? launch::CubinPath(paths.cubin_folder, spec->module, paths.arch) : paths.cubin;
    RETURN_IF_ERROR(add(&program->modules, paths.cubin.empty() ? spec->module : "", path, "cubin"));
    for (const launch::BufferSpec& buffer : spec->buffers) {
      if (buffer.generator.init != launch::Init::kFile) continue;
      const std::string& key = buffer.generator.file;  // as the launch file has it
      RETURN_IF_ERROR(add(&program->raw_files, key, (folder / key).string(), "buffer " + buffer.name));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Program> CollectProgram(const ProgramPaths& paths) {
  Program program;
  ASSIGN_OR_RETURN(program.launch_text, ReadFile(paths.launches, "launches"));
  ASSIGN_OR_RETURN(const launch::LaunchFile file,
                   launch::ParseLaunches(program.launch_text, {.name = paths.launches, .folder = ""}));
  if (file.is_manifest && paths.cubin_folder.empty()) {
    return WrongPair(paths, "a folder of cubins (--cubin-dir)",
                     "a manifest names its modules; one cubin does not hold them");
  }
  if (!file.is_manifest && paths.cubin.empty()) {
    return WrongPair(paths, "the cubin of its kernels (--cubin)", "a launch file needs one cubin");
  }
  ASSIGN_OR_RETURN(const std::vector<const launch::LaunchSpec*> selected, file.Select(paths.cases));
  program.arch = paths.arch;
  program.cases = paths.cases;
  program.launch_name = std::filesystem::path(paths.launches).filename().string();
  program.name =
      paths.cubin.empty() ? program.launch_name : std::filesystem::path(paths.cubin).filename().string();
  RETURN_IF_ERROR(AddFiles(paths, selected, &program));
  return program;
}

std::string EncodeProgram(const Program& program) {
  return Encode(program, program.name, program.launch_name);
}

absl::StatusOr<Program> ReadProgramFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, "program"));
  return DecodeProgram(bytes, std::filesystem::path(path).filename().string());
}

bool IsProgramFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  char head[kProgramMagic.size()] = {};
  return in.read(head, sizeof head) && std::string_view(head, sizeof head) == kProgramMagic;
}

std::string ProgramDigest(const Program& program) { return Sha256Hex(Encode(program, "", "")); }

}  // namespace sm89
