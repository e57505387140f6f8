#include "server/jobs/job_json.h"

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

}  // namespace sm89
