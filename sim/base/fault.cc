#include "sim/base/fault.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "sim/base/strings.h"

namespace sm89 {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kPayloadUrl[] = "sm89/faults";
constexpr size_t kFaultsInMessage = 20;
constexpr size_t kFaultsInPayload = 1000;

Json FaultToJson(const Fault& f) {
  Json j = Json::object();
  if (!f.file.empty()) j["file"] = f.file;
  if (f.line != 0) j["line"] = f.line;
  if (!f.field.empty()) j["field"] = f.field;
  if (!f.value.empty()) j["value"] = f.value;
  if (!f.expected.empty()) j["expected"] = f.expected;
  j["message"] = f.message;
  if (!f.facts.empty()) {
    Json facts = Json::object();
    for (const auto& [key, value] : f.facts) facts[key] = value;
    j["facts"] = std::move(facts);
  }
  return j;
}

std::string StringOr(const Json& j, const char* key) {
  const auto it = j.find(key);
  return it != j.end() && it->is_string() ? it->get<std::string>() : std::string();
}

Fault FaultFromJson(const Json& j) {
  Fault f;
  f.file = StringOr(j, "file");
  if (const auto it = j.find("line"); it != j.end() && it->is_number_unsigned()) f.line = *it;
  f.field = StringOr(j, "field");
  f.value = StringOr(j, "value");
  f.expected = StringOr(j, "expected");
  f.message = StringOr(j, "message");
  if (const auto it = j.find("facts"); it != j.end() && it->is_object()) {
    for (const auto& [key, value] : it->items()) {
      if (value.is_string()) f.facts.emplace_back(key, value.get<std::string>());
    }
  }
  return f;
}

std::string Dump(const Json& j) { return j.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::optional<absl::StatusCode> CodeFromName(const std::string& name) {
  for (int code = 0; code <= static_cast<int>(absl::StatusCode::kUnauthenticated); ++code) {
    if (name == absl::StatusCodeToString(static_cast<absl::StatusCode>(code))) {
      return static_cast<absl::StatusCode>(code);
    }
  }
  return std::nullopt;
}

}  // namespace

std::string FormatFault(const Fault& fault) {
  std::string out;
  if (!fault.file.empty()) out = fault.file;
  if (fault.line != 0) absl::StrAppend(&out, ":", fault.line);
  if (!out.empty()) out += ": ";
  out += fault.message;
  std::string details;
  if (!fault.field.empty()) details = fault.field;
  if (!fault.value.empty()) absl::StrAppend(&details, details.empty() ? "" : " = ", "'", fault.value, "'");
  if (!fault.expected.empty()) {
    absl::StrAppend(&details, details.empty() ? "" : ", ", "expected ", fault.expected);
  }
  if (!details.empty()) absl::StrAppend(&out, " (", details, ")");
  return out;
}

absl::Status InputError(absl::StatusCode code, const std::string& summary, const std::vector<Fault>& faults) {
  std::string message = summary;
  for (size_t i = 0; i < std::min(faults.size(), kFaultsInMessage); ++i) {
    if (!message.empty()) message += "\n";
    message += FormatFault(faults[i]);
  }
  if (faults.size() > kFaultsInMessage) {
    absl::StrAppend(&message, "\nand ", faults.size() - kFaultsInMessage, " more");
  }
  absl::Status status(code, message);
  Json list = Json::array();
  for (size_t i = 0; i < std::min(faults.size(), kFaultsInPayload); ++i) {
    list.push_back(FaultToJson(faults[i]));
  }
  status.SetPayload(kPayloadUrl, absl::Cord(Dump(list)));
  return status;
}

absl::Status InputError(absl::StatusCode code, const Fault& fault) {
  return InputError(code, "", std::vector<Fault>{fault});
}

std::vector<Fault> FaultsOf(const absl::Status& status) {
  std::vector<Fault> faults;
  const auto payload = status.GetPayload(kPayloadUrl);
  if (!payload.has_value()) return faults;
  const Json list = Json::parse(std::string(*payload), nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) return faults;
  for (const Json& j : list) {
    if (j.is_object()) faults.push_back(FaultFromJson(j));
  }
  return faults;
}

std::string StatusToJson(const absl::Status& status) {
  Json j = Json::object();
  j["code"] = absl::StatusCodeToString(status.code());
  j["message"] = std::string(status.message());
  Json list = Json::array();
  for (const Fault& f : FaultsOf(status)) list.push_back(FaultToJson(f));
  j["faults"] = std::move(list);
  return Dump(j);
}

absl::Status StatusFromJson(const std::string& json) {
  const Json j = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!j.is_object()) return absl::InternalError(absl::StrCat("unreadable status: ", json));
  const auto code = CodeFromName(StringOr(j, "code"));
  if (!code.has_value()) return absl::InternalError(absl::StrCat("unreadable status: ", json));
  absl::Status status(*code, StringOr(j, "message"));
  const auto it = j.find("faults");
  if (!status.ok() && it != j.end() && it->is_array() && !it->empty()) {
    status.SetPayload(kPayloadUrl, absl::Cord(Dump(*it)));
  }
  return status;
}

}  // namespace sm89
