#include "client/program_pack.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/error.h"
#include "client/macros.h"
#include "client/temporary_file.h"

namespace sm89::client {
namespace {

using Json = nlohmann::json;  // keys sorted: one program, one text

constexpr std::string_view kMagic{"SM89PRG\n", 8};
constexpr int kFormatVersion = 1;
constexpr uint64_t kProgramBytesMax = uint64_t{2} << 30;  // the server's bound

absl::Status PackFault(const std::string& file, uint64_t line, const std::string& field,
                       const std::string& expected, const std::string& message) {
  v1::Fault fault;
  fault.set_file(file);
  fault.set_line(line);
  fault.set_field(field);
  fault.set_expected(expected);
  fault.set_message(message);
  return InputError("PROGRAM_FILES_UNUSABLE", "the program cannot be packed", {fault});
}

absl::Status OptionFault(const std::string& option, const std::string& expected, const std::string& message) {
  return PackFault("", 0, option, expected, message);
}

absl::Status CheckPairs(const ProgramFiles& files) {
  const bool single = !files.cubin.empty() || !files.launch.empty();
  const bool suite = !files.suite.empty() || !files.cubin_folder.empty();
  if (single && suite) {
    return OptionFault("--suite", "either --cubin with --launch, or --suite with --cubin-dir",
                       "two ways of naming the code");
  }
  if (suite && files.suite.empty()) return OptionFault("--suite", "a manifest of launches", "not given");
  if (suite && files.cubin_folder.empty())
    return OptionFault("--cubin-dir", "the folder of the manifest's cubins", "not given");
  if (!suite && files.cubin.empty())
    return OptionFault("--cubin", "the code of the launches' kernels", "not given");
  if (!suite && files.launch.empty()) return OptionFault("--launch", "a launch file", "not given");
  return absl::OkStatus();
}

std::string PlainName(const std::string& path) { return std::filesystem::path(path).filename().string(); }

std::string TextOf(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

class Packer {
 public:
  explicit Packer(const ProgramFiles& files)
      : files_(files), launches_(files.launch.empty() ? files.suite : files.launch) {}

  absl::StatusOr<std::string> Pack() {
    CLIENT_RETURN_IF_ERROR(CheckPairs(files_));
    CLIENT_ASSIGN_OR_RETURN(const std::string text, ReadFile(launches_, ""));
    CLIENT_ASSIGN_OR_RETURN(const Json document, Parse(text));
    CLIENT_ASSIGN_OR_RETURN(const std::vector<Json> selected, Select(document));
    for (const Json& launch : selected) CLIENT_RETURN_IF_ERROR(AddLaunch(launch));
    Json package;
    package["version"] = kFormatVersion;
    package["name"] = files_.name.empty() ? CodeName() : files_.name;
    package["arch"] = files_.arch;
    package["launch_name"] = PlainName(launches_);
    package["launch_text"] = text;
    package["cases"] = files_.cases;
    package["modules"] = std::move(modules_);
    package["raw_files"] = std::move(raw_files_);
    const std::vector<uint8_t> body = Json::to_cbor(package);
    std::string bytes(kMagic);
    bytes.append(body.begin(), body.end());
    return bytes;
  }

  std::string CodeName() const { return PlainName(files_.cubin.empty() ? launches_ : files_.cubin); }

 private:
  absl::StatusOr<std::string> ReadFile(const std::string& path, const std::string& field) {
    const absl::StatusOr<LocalFile> file = LocalFile::Open(path, PlainName(path));
    if (!file.ok()) {
      const auto detail = DetailOf(file.status());
      const std::string why = detail.has_value() && detail->faults_size() > 0
                                  ? detail->faults(0).message()
                                  : std::string(file.status().message());
      return PackFault(path, 0, field, "a readable file", why);
    }
    total_bytes_ += file->size_bytes();
    if (total_bytes_ > kProgramBytesMax) {
      return absl::ResourceExhaustedError(absl::StrCat(path, ": a program has at most ", kProgramBytesMax,
                                                       " bytes in all its files together"));
    }
    return file->Read(0, static_cast<size_t>(file->size_bytes()));
  }

  absl::StatusOr<Json> Parse(const std::string& text) const {
    try {  // the JSON library reports by exceptions; they end here
      return Json::parse(text);
    } catch (const Json::parse_error& error) {
      const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
      const auto line = static_cast<uint64_t>(1 + std::count(text.begin(), end, '\n'));
      return PackFault(launches_, line, "", "JSON", "the text is not JSON");
    } catch (const Json::exception& error) {  // a number that no double holds
      return PackFault(launches_, 0, "", "JSON with numbers that a double holds", error.what());
    }
  }

  static std::string IdOf(const Json& launch) {
    const std::string id = TextOf(launch, "id");
    return id.empty() ? TextOf(launch, "kernel") : id;
  }

  // The launches that are to run.
  absl::StatusOr<std::vector<Json>> Select(const Json& document) const {
    const bool suite = !files_.suite.empty();
    const char* list_key = suite ? "cases" : "launches";
    std::vector<Json> all;
    const auto list = document.find(list_key);
    if (list != document.end() && list->is_array()) {
      all.assign(list->begin(), list->end());
    } else if (!suite && document.is_object() && document.contains("kernel")) {
      all.push_back(document);  // a launch by itself
    } else {
      return PackFault(launches_, 0, list_key, suite ? "a manifest, for a folder of cubins" : "launches",
                       "no list of that name");
    }
    if (files_.cases.empty()) return all;
    std::vector<Json> selected;
    for (const std::string& id : files_.cases) {
      const auto found = std::find_if(all.begin(), all.end(), [&](const Json& l) { return IdOf(l) == id; });
      if (found == all.end()) return PackFault(launches_, 0, "--case", "an id of the file", NotThere(id));
      selected.push_back(*found);
    }
    return selected;
  }
  static std::string NotThere(const std::string& id) { return absl::StrCat("there is no launch '", id, "'"); }

  absl::Status AddLaunch(const Json& launch) {
    const std::string module = files_.suite.empty() ? "" : TextOf(launch, "module");
    if (module.find('/') != std::string::npos || module.find("..") == 0)
      return PackFault(launches_, 0, module, "a plain name", "a module cannot lie in another folder");
    const std::string path =
        files_.suite.empty() ? files_.cubin
                             : absl::StrCat(files_.cubin_folder, "/", module, ".sm_", files_.arch, ".cubin");
    CLIENT_RETURN_IF_ERROR(Add(&modules_, module, path, "module"));
    const std::filesystem::path folder = std::filesystem::path(launches_).parent_path();
    for (const char* key : {"buffers", "args"}) {
      const auto list = launch.find(key);
      if (list == launch.end() || !list->is_array()) continue;
      for (const Json& buffer : *list) {
        if (!buffer.is_object() || TextOf(buffer, "init") != "file") continue;
        const std::string file = TextOf(buffer, "file");
        CLIENT_RETURN_IF_ERROR(Add(&raw_files_, file, (folder / file).string(), "file"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Add(Json* files, const std::string& key, const std::string& path, const std::string& field) {
    if (files->contains(key)) return absl::OkStatus();
    CLIENT_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, field));
    (*files)[key] = Json::binary(std::vector<uint8_t>(bytes.begin(), bytes.end()));
    return absl::OkStatus();
  }

  const ProgramFiles& files_;
  const std::string launches_;  // path of the launch file or manifest
  uint64_t total_bytes_ = 0;
  Json modules_ = Json::object();
  Json raw_files_ = Json::object();
};

absl::Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("cannot write a temporary file: ", std::strerror(errno),
                       " (set TMPDIR to a place with more room)"));
    }
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ProgramBytes(const ProgramFiles& files) { return Packer(files).Pack(); }

absl::StatusOr<LocalFile> PackProgram(const ProgramFiles& files) {
  Packer packer(files);
  CLIENT_ASSIGN_OR_RETURN(const std::string bytes, packer.Pack());
  CLIENT_ASSIGN_OR_RETURN(Descriptor fd, TemporaryFile());
  CLIENT_RETURN_IF_ERROR(WriteAll(fd.get(), bytes));
  return LocalFile::Adopt(fd.release(), files.name.empty() ? packer.CodeName() : files.name);
}

absl::StatusOr<uint32_t> ParseArch(std::string_view text) {
  uint32_t arch = 0;
  const absl::string_view digits = absl::StripPrefix(absl::string_view(text.data(), text.size()), "sm_");
  if (absl::SimpleAtoi(digits, &arch) && arch > 0 && arch <= 999) return arch;
  return OptionFault("--arch", "an architecture such as sm_89", absl::StrCat("'", std::string(text), "'"));
}

}  // namespace sm89::client
