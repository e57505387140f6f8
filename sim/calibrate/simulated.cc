#include "sim/calibrate/simulated.h"

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "sim/base/status_macros.h"
#include "sim/calibrate/numbers.h"

namespace sm89::calibrate {
namespace {

using Json = nlohmann::json;

constexpr double kSectorBytes = 32;

absl::Status NotAReport(const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("the result is not a report: ", why));
}

const Json& At(const Json& object, const char* key) {
  static const Json kNull;
  return object.is_object() && object.contains(key) ? object[key] : kNull;
}
std::string Text(const Json& value) { return value.is_string() ? value.get<std::string>() : std::string(); }

// A figure of the report and its counterpart in Nsight Compute.
struct Counterpart {
  std::string metric;
  double scale = 1;
};

// By the report's name.
std::map<std::string, Counterpart> Counterparts(const Json& definitions) {
  std::map<std::string, Counterpart> known;
  if (!definitions.is_object()) return known;
  for (const auto& [name, row] : definitions.items()) {
    const std::string metric = Text(At(row, "ncu_metric"));
    if (!metric.empty()) known[name] = {metric, UnitScale(Text(At(row, "unit")))};
  }
  return known;
}

void AddCounters(const Json& groups, const std::map<std::string, Counterpart>& known,
                 SimulatedKernel* kernel) {
  if (!groups.is_object()) return;
  for (const auto& [group, counters] : groups.items()) {
    if (!counters.is_object()) continue;
    for (const auto& [key, value] : counters.items()) {
      const auto found = known.find(absl::StrCat(group, "_", key));
      if (found == known.end() || !value.is_number()) continue;
      kernel->metrics[found->second.metric] = value.get<double>() * found->second.scale;
    }
  }
}

void AddDerived(const Json& figures, const std::map<std::string, Counterpart>& known,
                SimulatedKernel* kernel) {
  if (!figures.is_object()) return;
  for (const auto& [name, value] : figures.items()) {
    const auto found = known.find(name);
    if (found == known.end() || !value.is_number()) continue;
    kernel->metrics[found->second.metric] = value.get<double>() * found->second.scale;
  }
}

// What profilers print in another form than the report.
void AddConversions(double num_sms, SimulatedKernel* kernel) {
  std::map<std::string, double>& m = kernel->metrics;
  const auto convert = [&m](const char* from, const char* to, double factor) {
    if (const auto found = m.find(from); found != m.end()) m[to] = found->second * factor;
  };
  convert("dram__sectors_read.sum", "dram__bytes_read.sum", kSectorBytes);
  convert("dram__sectors_write.sum", "dram__bytes_write.sum", kSectorBytes);
  if (num_sms > 0) convert("sm__cycles_active.sum", "sm__cycles_active.avg", 1 / num_sms);
  const auto read = m.find("dram__bytes_read.sum.per_second");
  const auto write = m.find("dram__bytes_write.sum.per_second");
  if (read != m.end() && write != m.end()) m["dram__bytes.sum.per_second"] = read->second + write->second;
}

absl::Status ReadDimensions(const Json& value, Dimensions* out) {
  if (!value.is_array() || value.size() != out->size()) return NotAReport("a kernel without grid or block");
  for (size_t i = 0; i < out->size(); ++i) {
    if (!value[i].is_number_unsigned()) return NotAReport("a grid or block that is no number");
    (*out)[i] = value[i].get<uint64_t>();
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Simulated> FromReport(std::string_view report_json) {
  const Json root = Json::parse(report_json, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded() || Text(At(root, "format")) != "sm89-report/1")
    return NotAReport("format sm89-report/1 expected");
  if (const std::string status = Text(At(root, "status")); status != "complete") {
    return absl::FailedPreconditionError(absl::StrCat("the simulation did not reach its end (", status, ")"));
  }
  const Json& config = At(root, "config");
  Simulated out{.model_version = Text(At(root, "model_version")),
                .trace_name = Text(At(At(root, "trace"), "name")),
                .trace_digest = Text(At(At(root, "trace"), "digest")),
                .config_name = Text(At(config, "name")),
                .config_digest = Text(At(config, "digest"))};
  if (const Json& khz = At(config, "core_khz"); khz.is_number_unsigned()) out.core_khz = khz.get<uint64_t>();
  const Json& sms = At(config, "num_sms");
  const std::map<std::string, Counterpart> known = Counterparts(At(root, "definitions"));
  const Json& kernels = At(root, "kernels");
  if (!kernels.is_array() || kernels.empty()) return NotAReport("no kernels");
  for (const Json& row : kernels) {
    SimulatedKernel& kernel = out.kernels.emplace_back();
    kernel.name = Text(At(row, "name"));
    RETURN_IF_ERROR(ReadDimensions(At(row, "grid"), &kernel.grid));
    RETURN_IF_ERROR(ReadDimensions(At(row, "block"), &kernel.block));
    const Json& cycles = At(row, "cycles");
    if (!cycles.is_number_unsigned() || cycles.get<uint64_t>() == 0)
      return NotAReport("a kernel without cycles");
    AddCounters(At(row, "statistics"), known, &kernel);
    AddDerived(At(row, "derived"), known, &kernel);
    AddConversions(sms.is_number() ? sms.get<double>() : 0, &kernel);
    kernel.metrics[kCyclesMetric] = cycles.get<double>();
  }
  return out;
}

}  // namespace sm89::calibrate
