// How many CTAs of a kernel an SM holds, and why not more. Rules: CUDA occupancy calculation for compute
// capability 8.9 (registers by warp and sub-core, shared memory with the reserved kilobyte, warps, CTAs).
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "sim/config/gpu_config.h"
#include "sim/sm/sm.h"
#include "sim/trace/trace_types.h"

namespace sm89 {

struct Occupancy {
  CtaNeeds needs;
  uint32_t ctas_per_sm = 0;
  std::string limiter;  // "registers", "shared memory", "warps", "CTAs"
};

// INVALID_ARGUMENT when one CTA can never be placed; the fault names resource, need and limit.
absl::StatusOr<Occupancy> ComputeOccupancy(const KernelInfo& kernel, const SmConfig& config);

}  // namespace sm89
