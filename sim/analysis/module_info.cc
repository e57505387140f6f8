#include "sim/analysis/module_info.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/gpu/occupancy.h"

namespace sm89::analysis {
namespace {

absl::Status BadLaunch(const std::string& field, uint64_t value, const std::string& expected) {
  Fault fault;
  fault.field = field;
  fault.value = absl::StrCat(value);
  fault.expected = expected;
  fault.message = "a launch that means nothing";
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

// Percent of the largest capacity, up to the next setting that exists (cuda_occupancy.h does the same).
std::optional<uint32_t> WantedCarveoutKib(const LaunchShape& launch, const SmConfig& config) {
  if (!launch.carveout_percent) return std::nullopt;
  const uint32_t largest = *std::max_element(config.shmem_carveouts_kib.begin(),
                                             config.shmem_carveouts_kib.begin() + config.num_carveouts);
  return SmallestCarveoutKib(config, uint64_t{largest} * 1024 * *launch.carveout_percent / 100);
}

std::string ReasonForNone(const OccupancyLimits& limits, const CtaDemand& demand, const SmConfig& config) {
  if (limits.warps == 0)
    return absl::StrCat("a CTA of ", demand.threads, " threads is larger than an SM takes");
  if (limits.registers == 0) {
    if (demand.registers_per_thread > kMaxRegistersPerThread) return "more registers than a thread can have";
    return absl::StrCat("a CTA needs ", limits.registers_checked, " registers, the SM has ",
                        config.registers);
  }
  return absl::StrCat("a CTA asks for ", demand.shmem_bytes, " bytes of shared memory, the limit is ",
                      config.max_shmem_cta_bytes);
}

}  // namespace

absl::StatusOr<LaunchOccupancy> OccupancyOf(const cubin::Function& kernel, const LaunchShape& launch,
                                            const SmConfig& config) {
  if (launch.block_threads == 0) return BadLaunch("block_threads", 0, "at least 1");
  if (launch.carveout_percent.value_or(0) > 100) {
    return BadLaunch("carveout_percent", *launch.carveout_percent, "0 to 100");
  }
  const uint64_t shared = launch.dynamic_shared_bytes +
                          std::min<uint64_t>(kernel.static_shared_bytes, ~launch.dynamic_shared_bytes);
  const CtaDemand demand{launch.block_threads, kernel.registers, shared};
  const OccupancyLimits limits = LimitsOf(demand, config, WantedCarveoutKib(launch, config));
  LaunchOccupancy result;
  result.launch = launch;
  result.ctas_per_sm = limits.Lowest();
  result.registers_per_cta = limits.needs.registers_per_warp * limits.needs.warps;
  result.shared_bytes_per_cta = limits.needs.shmem_bytes;
  const std::array<std::pair<const char*, uint32_t>, 4> named = {{{"warps", limits.warps},
                                                                  {"registers", limits.registers},
                                                                  {"shared memory", limits.shmem},
                                                                  {"CTAs", limits.ctas}}};
  for (const auto& [name, ctas] : named) {
    const bool limited = ctas != OccupancyLimits::kUnlimited;
    result.limits.push_back({name, limited ? std::optional<uint32_t>(ctas) : std::nullopt});
    if (ctas == result.ctas_per_sm) result.limiters.push_back(name);
  }
  if (result.ctas_per_sm == 0) result.reason = ReasonForNone(limits, demand, config);
  if (kernel.max_threads && launch.block_threads > SaturatingVolume(*kernel.max_threads)) {
    result.ctas_per_sm = 0;
    result.limiters = {"launch bounds"};
    result.reason = absl::StrCat("the kernel was compiled for at most ",
                                 SaturatingVolume(*kernel.max_threads), " threads a CTA");
  }
  result.warps_per_sm = result.ctas_per_sm * limits.needs.warps;
  result.fraction = static_cast<double>(result.warps_per_sm) / config.max_warps;
  const uint64_t used = uint64_t{result.ctas_per_sm} * limits.needs.shmem_bytes;
  result.carveout_kib =
      std::max(SmallestCarveoutKib(config, used), WantedCarveoutKib(launch, config).value_or(0));
  return result;
}

absl::StatusOr<ModuleInfo> DescribeModule(const cubin::Module& module, const SmConfig& config,
                                          const std::optional<LaunchShape>& launch) {
  ModuleInfo info;
  info.module = &module;
  for (const bool kernels : {true, false}) {
    for (const cubin::Function& function : module.functions) {
      if (function.is_kernel != kernels) continue;
      KernelInfoRow row;
      row.function = &function;
      row.code_bytes = function.code.size();
      row.instructions = static_cast<uint32_t>(function.num_instructions());
      row.has_lines = !function.lines.empty();
      row.has_ptx_lines = !function.ptx_lines.empty();
      for (const auto& [bank, bytes] : function.constants) row.constant_bytes[bank] = bytes.size();
      if (launch && kernels) {
        ASSIGN_OR_RETURN(row.occupancy, OccupancyOf(function, *launch, config));
      }
      info.kernels.push_back(std::move(row));
    }
  }
  return info;
}

}  // namespace sm89::analysis
