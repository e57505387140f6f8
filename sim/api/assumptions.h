// What the model assumes of the hardware without a measurement on it; shown in every report.
#pragma once

#include <string>
#include <vector>

#include "sim/config/gpu_config.h"
#include "sim/report/run_report.h"

namespace sm89 {

// KernelReport::control_bits, where the bits are not those of the machine code.
inline constexpr char kSynthesisedControlBits[] = "synthesised";

// `report` has its kernels. Only what can matter to them is listed.
std::vector<std::string> AssumptionsOf(const RunReport& report, const GpuConfig& config);

}  // namespace sm89
