// What a simulation gave, out of the JSON report that sm89-sim and the daemon write.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/calibrate/measured.h"

namespace sm89::calibrate {

struct SimulatedKernel {
  std::string name;
  Dimensions grid{}, block{};
  // By Nsight Compute's name (the report's own "definitions"), in base units. Undefined figures have no
  // entry.
  std::map<std::string, double> metrics;
};

struct Simulated {
  std::string model_version, trace_name, trace_digest, config_name, config_digest;
  uint64_t core_khz = 0;
  std::vector<SimulatedKernel> kernels;
};

// FAILED_PRECONDITION for a run that did not reach its end, INVALID_ARGUMENT for a text that is no report.
absl::StatusOr<Simulated> FromReport(std::string_view report_json);

}  // namespace sm89::calibrate
