// How many CTAs of a kernel an SM holds, and why not more. Rules: CUDA occupancy calculation for compute
// capability 8.9 (registers by warp and sub-core, shared memory with the reserved kilobyte, warps, CTAs).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
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

// What one CTA asks for.
struct CtaDemand {
  uint32_t threads = 0;
  uint32_t registers_per_thread = 0;
  uint64_t shmem_bytes = 0;  // static and dynamic
};

// CTAs that an SM holds by each resource alone.
struct OccupancyLimits {
  static constexpr uint32_t kUnlimited = std::numeric_limits<uint32_t>::max();

  CtaNeeds needs;  // carveout_kib not filled in
  uint32_t warps = 0, registers = 0, shmem = 0, ctas = 0;
  uint32_t registers_checked = 0;  // of a CTA, its warps rounded up to the sub-cores: the hardware's check

  uint32_t Lowest() const;
};
// `demand.threads` > 0. `carveout_kib`: shared memory that the SM is set to; none = the largest. A setting
// that cannot hold one CTA is raised to the smallest that can.
OccupancyLimits LimitsOf(const CtaDemand& demand, const SmConfig& config,
                         std::optional<uint32_t> carveout_kib = {});

// Smallest carve-out with room for `bytes`, the largest when none has.
uint32_t SmallestCarveoutKib(const SmConfig& config, uint64_t bytes);

// Registers a thread can have (the operand field has 8 bits; CUDA counts 256 as valid).
inline constexpr uint32_t kMaxRegistersPerThread = 256;

// INVALID_ARGUMENT when one CTA can never be placed; the fault names resource, need and limit.
absl::StatusOr<Occupancy> ComputeOccupancy(const KernelInfo& kernel, const SmConfig& config);

}  // namespace sm89
