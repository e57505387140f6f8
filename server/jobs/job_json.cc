#include "server/jobs/job_json.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace sm89 {
namespace {

using Json = nlohmann::ordered_json;

std::string Dump(const Json& j) { return j.dump(-1, ' ', false, Json::error_handler_t::replace); }

absl::Status Damaged(const char* what, const std::string& why) {
  return absl::DataLossError(absl::StrCat("a stored ", what, " does not parse: ", why));
}

Json FaultJson(const Fault& fault) {
  return Json{{"file", fault.file},        {"line", fault.line},         {"field", fault.field},
              {"value", fault.value},      {"expected", fault.expected}, {"message", fault.message},
              {"facts", Json(fault.facts)}};
}

Fault FaultFrom(const Json& j) {
  Fault fault;
  fault.file = j.at("file");
  fault.line = j.at("line");
  fault.field = j.at("field");
  fault.value = j.at("value");
  fault.expected = j.at("expected");
  fault.message = j.at("message");
  j.at("facts").get_to(fault.facts);
  return fault;
}

// At each format's value.
constexpr std::array<const char*, 4> kSerTraceFormats = {"", "compact", "csv", "jsonl"};
static_assert(static_cast<size_t>(SerTraceFormat::kNone) == 0);
static_assert(static_cast<size_t>(SerTraceFormat::kCompact) == 1);
static_assert(static_cast<size_t>(SerTraceFormat::kCsv) == 2);
static_assert(static_cast<size_t>(SerTraceFormat::kJsonLines) == 3);

}  // namespace

std::string SpecToJson(const JobSpec& spec) {
  Json overrides = Json::array();
  for (const NamedOverride& o : spec.overrides) overrides.push_back(Json::array({o.name, o.value}));
  Json json = Json{{"trace", spec.trace},
                   {"config", spec.config},
                   {"overrides", overrides},
                   {"kernels", spec.kernels},
                   {"max_cycles", spec.max_cycles},
                   {"threads", spec.threads},
                   {"memory_bytes", spec.memory_bytes},
                   {"wall_seconds", spec.wall_seconds},
                   {"labels", Json(spec.labels)},
                   {"priority", spec.priority},
                   {"no_result_cache", spec.no_result_cache},
                   {"display_name", spec.display_name}};
  // Left out when not asked for: specifications of earlier versions keep their text and so their hash.
  if (spec.keep_trace) json["keep_trace"] = true;
  if (!spec.sass.empty()) json["sass"] = spec.sass;
  if (spec.profile) json["profile"] = true;
  if (spec.ser_trace != SerTraceFormat::kNone) json["ser_trace"] = NameOf(spec.ser_trace);
  if (spec.max_instructions != 0) json["max_instructions"] = spec.max_instructions;
  if (!spec.sass_names.empty()) json["sass_names"] = spec.sass_names;
  return Dump(json);
}

absl::StatusOr<JobSpec> SpecFromJson(const std::string& json) {
  try {  // the JSON library reports by exceptions; they end here
    const Json j = Json::parse(json);
    JobSpec spec;
    spec.trace = j.at("trace");
    spec.config = j.at("config");
    for (const Json& o : j.at("overrides")) spec.overrides.push_back({o.at(0), o.at(1)});
    spec.kernels = j.at("kernels");
    spec.max_cycles = j.at("max_cycles");
    spec.threads = j.at("threads");
    spec.memory_bytes = j.at("memory_bytes");
    spec.wall_seconds = j.at("wall_seconds");
    j.at("labels").get_to(spec.labels);
    spec.priority = j.at("priority");
    spec.no_result_cache = j.at("no_result_cache");
    spec.display_name = j.at("display_name");
    spec.keep_trace = j.value("keep_trace", false);
    spec.sass = j.value("sass", std::vector<std::string>{});
    spec.profile = j.value("profile", false);
    const auto format = SerTraceFormatOf(j.value("ser_trace", std::string()));
    if (!format.has_value()) return Damaged("job", "ser_trace");
    spec.ser_trace = *format;
    spec.max_instructions = j.value("max_instructions", uint64_t{0});
    spec.sass_names = j.value("sass_names", std::vector<std::string>{});
    return spec;
  } catch (const Json::exception& e) {
    return Damaged("job", e.what());
  }
}

std::string ErrorToJson(const JobError& error) {
  if (error.code.empty()) return "";
  Json faults = Json::array();
  for (const Fault& fault : error.faults) faults.push_back(FaultJson(fault));
  return Dump(
      Json{{"code", error.code}, {"reason", error.reason}, {"message", error.message}, {"faults", faults}});
}

absl::StatusOr<JobError> ErrorFromJson(const std::string& json) {
  JobError error;
  if (json.empty()) return error;
  try {
    const Json j = Json::parse(json);
    error.code = j.at("code");
    error.reason = j.at("reason");
    error.message = j.at("message");
    for (const Json& fault : j.at("faults")) error.faults.push_back(FaultFrom(fault));
    return error;
  } catch (const Json::exception& e) {
    return Damaged("job error", e.what());
  }
}

std::string NameOf(SerTraceFormat format) { return kSerTraceFormats[static_cast<size_t>(format)]; }

std::optional<SerTraceFormat> SerTraceFormatOf(const std::string& name) {
  const auto* const found = std::find(kSerTraceFormats.begin(), kSerTraceFormats.end(), name);
  if (found == kSerTraceFormats.end()) return std::nullopt;
  return static_cast<SerTraceFormat>(found - kSerTraceFormats.begin());
}

std::string CodeInputsToJson(const std::vector<CodeInput>& inputs) {
  if (inputs.empty()) return "";
  Json list = Json::array();
  for (const CodeInput& code : inputs) {
    list.push_back(Json::array({code.digest, code.blob, code.display_name}));
  }
  return Dump(list);
}

absl::StatusOr<std::vector<CodeInput>> CodeInputsFromJson(const std::string& json) {
  std::vector<CodeInput> inputs;
  if (json.empty()) return inputs;
  try {
    for (const Json& code : Json::parse(json)) inputs.push_back({code.at(0), code.at(1), code.at(2)});
    return inputs;
  } catch (const Json::exception& e) {
    return Damaged("list of machine code", e.what());
  }
}

}  // namespace sm89
