#include "sim/replay/program.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
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

using Json = nlohmann::json;  // keys sorted: one program, one text

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

Json FilesJson(const std::map<std::string, std::string>& files) {
  Json json = Json::object();
  for (const auto& [name, bytes] : files) {
    json[name] = Json::binary(std::vector<uint8_t>(bytes.begin(), bytes.end()));
  }
  return json;
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
  Json json;
  json["version"] = kProgramVersion;
  json["name"] = program.name;
  json["arch"] = program.arch;
  json["launch_name"] = program.launch_name;
  json["launch_text"] = program.launch_text;
  json["cases"] = program.cases;
  json["modules"] = FilesJson(program.modules);
  json["raw_files"] = FilesJson(program.raw_files);
  const std::vector<uint8_t> body = Json::to_cbor(json);
  std::string bytes(kProgramMagic);
  bytes.append(body.begin(), body.end());
  return bytes;
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

std::string ProgramDigest(const Program& program) {
  Program nameless = program;
  nameless.name.clear();
  nameless.launch_name.clear();
  return Sha256Hex(EncodeProgram(nameless));
}

}  // namespace sm89
