// What a cubin holds: kernels, their resources, and how many CTAs an SM takes of a launch.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/config/gpu_config.h"
#include "sim/cubin/module.h"

namespace sm89::analysis {

struct LaunchShape {
  uint32_t block_threads = 0;
  uint64_t dynamic_shared_bytes = 0;
  // Wanted part of the largest shared-memory capacity, as cudaFuncAttributePreferredSharedMemoryCarveout
  // means it; none: the driver's choice, the smallest that holds the most CTAs.
  std::optional<uint32_t> carveout_percent;
};

struct ResourceLimit {
  std::string resource;          // "warps", "registers", "shared memory", "CTAs"
  std::optional<uint32_t> ctas;  // none: this resource sets no limit
};
struct LaunchOccupancy {
  LaunchShape launch;
  uint32_t ctas_per_sm = 0;
  uint32_t warps_per_sm = 0;
  double fraction = 0;                // of the warps that an SM holds
  std::vector<std::string> limiters;  // all resources that set the limit, first the one named elsewhere
  std::vector<ResourceLimit> limits;
  uint32_t registers_per_cta = 0;     // allocated
  uint64_t shared_bytes_per_cta = 0;  // allocated, reserved kilobyte included
  uint32_t carveout_kib = 0;
  std::string reason;  // why ctas_per_sm is 0, else ""
};
// A launch that no SM can take gives ctas_per_sm 0 and a reason. INVALID_ARGUMENT for a launch that means
// nothing (no threads, a carve-out above 100 %).
absl::StatusOr<LaunchOccupancy> OccupancyOf(const cubin::Function& kernel, const LaunchShape& launch,
                                            const SmConfig& config);

struct KernelInfoRow {
  const cubin::Function* function = nullptr;
  uint64_t code_bytes = 0;
  uint32_t instructions = 0;
  bool has_lines = false, has_ptx_lines = false;
  std::map<uint32_t, uint64_t> constant_bytes;  // by bank
  std::optional<LaunchOccupancy> occupancy;
};
struct ModuleInfo {
  const cubin::Module* module = nullptr;
  std::vector<KernelInfoRow> kernels;  // kernels, then functions of relocatable objects
};
// `launch`: also computes occupancy for every kernel.
absl::StatusOr<ModuleInfo> DescribeModule(const cubin::Module& module, const SmConfig& config,
                                          const std::optional<LaunchShape>& launch = {});

std::string ToText(const ModuleInfo& info);
std::string ToJson(const ModuleInfo& info);
std::string ToText(const LaunchOccupancy& occupancy);
std::string ToJson(const LaunchOccupancy& occupancy);

}  // namespace sm89::analysis
