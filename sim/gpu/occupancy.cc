#include "sim/gpu/occupancy.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/base/round_up.h"

namespace sm89 {
namespace {

constexpr uint32_t kMaxThreadsPerCta = 1024;  // CUDA programming guide

absl::Status TooLarge(const KernelInfo& kernel, const std::string& field, const std::string& fact_need,
                      const std::string& fact_limit, std::pair<uint64_t, uint64_t> need_and_limit) {
  Fault fault;
  fault.file = kernel.file;
  fault.field = field;
  fault.value = absl::StrCat(need_and_limit.first);
  fault.expected = absl::StrCat("at most ", need_and_limit.second);
  fault.message =
      absl::StrCat("a CTA of kernel '", kernel.name, "' can never be placed on this GPU: it needs ",
                   need_and_limit.first, " of ", field, ", the limit is ", need_and_limit.second);
  fault.facts = {{fact_need, absl::StrCat(need_and_limit.first)},
                 {fact_limit, absl::StrCat(need_and_limit.second)}};
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

uint32_t LargestCarveoutKib(const SmConfig& config) {
  return *std::max_element(config.shmem_carveouts_kib.begin(),
                           config.shmem_carveouts_kib.begin() + config.num_carveouts);
}

uint32_t RegisterLimit(const CtaDemand& demand, const OccupancyLimits& limits, const SmConfig& config) {
  const CtaNeeds& needs = limits.needs;
  const bool fits =
      demand.registers_per_thread <= kMaxRegistersPerThread && limits.registers_checked <= config.registers;
  if (!fits) return 0;
  if (needs.registers_per_warp == 0) return OccupancyLimits::kUnlimited;
  // Registers belong to sub-cores: a remainder in each does not add up to a warp.
  const uint32_t warps = config.registers / config.sub_cores / needs.registers_per_warp * config.sub_cores;
  return warps / needs.warps;
}

}  // namespace

uint32_t SmallestCarveoutKib(const SmConfig& config, uint64_t bytes) {
  uint32_t best = config.shmem_carveouts_kib[config.num_carveouts - 1];
  for (uint32_t i = 0; i < config.num_carveouts; ++i) {
    const uint32_t kib = config.shmem_carveouts_kib[i];
    if (uint64_t{kib} * 1024 >= bytes && kib < best) best = kib;
  }
  return best;
}

uint32_t OccupancyLimits::Lowest() const { return std::min({warps, registers, shmem, ctas}); }

OccupancyLimits LimitsOf(const CtaDemand& demand, const SmConfig& config,
                         std::optional<uint32_t> carveout_kib) {
  SM89_ASSERT(demand.threads > 0, "a CTA without threads");
  OccupancyLimits limits;
  CtaNeeds& needs = limits.needs;
  needs.threads = demand.threads;
  needs.warps = (needs.threads + kWarpSize - 1) / kWarpSize;
  // What is too much is too much: no overflow for absurd counts.
  const uint32_t registers = std::min(demand.registers_per_thread, kMaxRegistersPerThread + 1);
  needs.registers_per_warp = RoundUp(registers * kWarpSize, config.register_alloc_unit);
  limits.registers_checked = needs.registers_per_warp * RoundUp(needs.warps, config.sub_cores);
  limits.warps =
      needs.threads > std::min(kMaxThreadsPerCta, config.max_threads) ? 0 : config.max_warps / needs.warps;
  limits.registers = RegisterLimit(demand, limits, config);
  limits.ctas = config.max_ctas;
  if (demand.shmem_bytes > config.max_shmem_cta_bytes) return limits;  // shmem: 0

  needs.shmem_bytes = RoundUp(static_cast<uint32_t>(demand.shmem_bytes) + config.reserved_shmem_cta_bytes,
                              config.shmem_alloc_unit_bytes);
  uint32_t capacity_kib = carveout_kib.value_or(LargestCarveoutKib(config));
  if (uint64_t{capacity_kib} * 1024 < needs.shmem_bytes) {
    capacity_kib = SmallestCarveoutKib(config, needs.shmem_bytes);
  }
  limits.shmem =
      needs.shmem_bytes == 0 ? OccupancyLimits::kUnlimited : capacity_kib * 1024 / needs.shmem_bytes;
  return limits;
}

absl::StatusOr<Occupancy> ComputeOccupancy(const KernelInfo& kernel, const SmConfig& config) {
  const uint64_t threads = SaturatingVolume(kernel.block);
  const uint32_t max_threads = std::min(kMaxThreadsPerCta, config.max_threads);
  if (threads == 0 || threads > max_threads) {
    return TooLarge(kernel, "block threads", "threads", "max_threads_per_block", {threads, max_threads});
  }
  if (kernel.shmem_bytes > config.max_shmem_cta_bytes) {
    return TooLarge(kernel, "shmem", "shmem", "max_shmem_per_block",
                    {kernel.shmem_bytes, config.max_shmem_cta_bytes});
  }
  const CtaDemand demand{static_cast<uint32_t>(threads), kernel.nregs, kernel.shmem_bytes};
  const OccupancyLimits limits = LimitsOf(demand, config);
  if (kernel.nregs > kMaxRegistersPerThread) {
    return TooLarge(kernel, "registers", "registers", "max_registers_per_thread",
                    {kernel.nregs, kMaxRegistersPerThread});
  }
  if (limits.registers_checked > config.registers) {
    return TooLarge(kernel, "registers", "registers", "max_registers_per_block",
                    {limits.registers_checked, config.registers});
  }
  Occupancy result;
  result.needs = limits.needs;
  result.ctas_per_sm = limits.Lowest();
  if (result.ctas_per_sm == 0) {
    return TooLarge(kernel, "shmem", "shmem_allocated", "largest_carveout",
                    {limits.needs.shmem_bytes, uint64_t{LargestCarveoutKib(config)} * 1024});
  }
  const std::array<std::pair<uint32_t, const char*>, 4> named = {{{limits.warps, "warps"},
                                                                  {limits.registers, "registers"},
                                                                  {limits.shmem, "shared memory"},
                                                                  {limits.ctas, "CTAs"}}};
  result.limiter = std::min_element(named.begin(), named.end(), [](const auto& a, const auto& b) {
                     return a.first < b.first;
                   })->second;
  result.needs.carveout_kib =
      SmallestCarveoutKib(config, uint64_t{result.ctas_per_sm} * limits.needs.shmem_bytes);
  return result;
}

}  // namespace sm89
