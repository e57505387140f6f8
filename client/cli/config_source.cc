#include "client/cli/config_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/checksum.h"
#include "client/cli/format.h"
#include "client/error.h"
#include "client/macros.h"

namespace sm89::client {
namespace {

constexpr size_t kConfigBytesMax = 1 << 20;
constexpr size_t kStemBytesMax = 40;
constexpr size_t kDigestDigits = 12;
constexpr char kTextLabel[] = "text";  // the file name that the server gives to a text from a request

absl::Status BadConfigFile(const std::string& path, const std::string& message) {
  v1::Fault fault;
  fault.set_file(path);
  fault.set_message(message);
  return InputError("CONFIG_UNREADABLE", absl::StrCat("cannot read the configuration ", path), {fault});
}

// The characters that a configuration id may have.
std::string IdFor(const std::string& path, const std::string& text) {
  std::string stem = std::filesystem::path(path).stem().string().substr(0, kStemBytesMax);
  for (char& c : stem) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!plain) c = '-';
  }
  const bool starts_well = !stem.empty() && stem.front() != '-' && stem.front() != '_';
  return absl::StrCat(starts_well ? "" : "file", stem, "-", Sha256Hex(text).substr(0, kDigestDigits));
}

}  // namespace

bool IsConfigFile(const std::string& text) {
  if (text.starts_with("configs/")) return false;
  std::error_code ignored;
  return text.find('/') != std::string::npos || std::filesystem::is_regular_file(text, ignored);
}

absl::StatusOr<std::string> ReadConfigFile(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return BadConfigFile(path, "is a directory");
  std::ifstream in(path, std::ios::binary);
  if (!in) return BadConfigFile(path, std::strerror(errno));
  std::string text(kConfigBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > kConfigBytesMax)
    return BadConfigFile(path, absl::StrCat("has more than ", kConfigBytesMax, " bytes"));
  return text;
}

absl::StatusOr<std::string> ConfigNameFor(Client& client, const std::string& text) {
  if (!IsConfigFile(text)) return FullName("configs", text);
  v1::CreateConfigRequest request;
  CLIENT_ASSIGN_OR_RETURN(*request.mutable_text(), ReadConfigFile(text));
  request.set_config_id(IdFor(text, request.text()));
  request.set_description(absl::StrCat("from the file ", std::filesystem::path(text).filename().string()));
  request.set_request_id(NewUuid());
  const absl::StatusOr<v1::Config> created = client.CreateConfig(request);
  if (created.ok()) return created->name();
  if (absl::IsAlreadyExists(created.status())) return absl::StrCat("configs/", request.config_id());
  return NameFaults(text, created.status());
}

absl::StatusOr<std::vector<v1::Override>> ParseOverrides(const std::string& option,
                                                         const std::vector<std::string>& pairs) {
  std::vector<v1::Override> overrides;
  std::vector<v1::Fault> faults;
  for (const std::string& pair : pairs) {
    const absl::StatusOr<std::pair<std::string, std::string>> parsed = ParsePair(option, pair);
    if (!parsed.ok()) {
      const v1::ErrorDetail detail = DetailOf(parsed.status()).value_or(v1::ErrorDetail());
      faults.insert(faults.end(), detail.faults().begin(), detail.faults().end());
      continue;
    }
    v1::Override& one = overrides.emplace_back();
    one.set_name(parsed->first);
    one.set_value(parsed->second);
  }
  if (!faults.empty()) return InputError("OPTION_MALFORMED", absl::StrCat("cannot read ", option), faults);
  return overrides;
}

void NameFaults(const std::string& path, google::protobuf::RepeatedPtrField<v1::Fault>& faults) {
  for (v1::Fault& fault : faults) {
    if (fault.file() == kTextLabel) fault.set_file(path);
  }
}

void NameWarnings(const std::string& path, google::protobuf::RepeatedPtrField<std::string>& warnings) {
  const std::string prefix = absl::StrCat(kTextLabel, ":");
  for (std::string& warning : warnings) {
    if (warning.starts_with(prefix)) warning = absl::StrCat(path, ":", warning.substr(prefix.size()));
  }
}

absl::Status NameFaults(const std::string& path, const absl::Status& status) {
  std::optional<v1::ErrorDetail> detail = DetailOf(status);
  if (path.empty() || !detail.has_value() || detail->faults().empty()) return status;
  NameFaults(path, *detail->mutable_faults());
  // The message lists the faults with the server's label.
  const std::string message = absl::StrCat("the configuration ", path, " cannot be used");
  return WithDetail(absl::Status(status.code(), message), *detail);
}

}  // namespace sm89::client
