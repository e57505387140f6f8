#include "sim/gpu/occupancy.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"

namespace sm89 {
namespace {

constexpr uint32_t kMaxThreadsPerCta = 1024;  // CUDA programming guide

uint32_t RoundUp(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }

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

uint32_t SmallestCarveout(const SmConfig& config, uint32_t bytes) {
  uint32_t best = config.shmem_carveouts_kib[config.num_carveouts - 1];
  for (uint32_t i = 0; i < config.num_carveouts; ++i) {
    const uint32_t kib = config.shmem_carveouts_kib[i];
    if (kib * 1024 >= bytes && kib < best) best = kib;
  }
  return best;
}

}  // namespace

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
  Occupancy result;
  CtaNeeds& needs = result.needs;
  needs.threads = static_cast<uint32_t>(threads);
  needs.warps = (needs.threads + kWarpSize - 1) / kWarpSize;
  needs.registers_per_warp = RoundUp(kernel.nregs * kWarpSize, config.register_alloc_unit);
  needs.shmem_bytes =
      RoundUp(kernel.shmem_bytes + config.reserved_shmem_cta_bytes, config.shmem_alloc_unit_bytes);
  const uint32_t registers_needed = needs.registers_per_warp * RoundUp(needs.warps, config.sub_cores);
  if (registers_needed > config.registers) {
    return TooLarge(kernel, "registers", "registers", "max_registers_per_block",
                    {registers_needed, config.registers});
  }

  const uint32_t largest_carveout = *std::max_element(
      config.shmem_carveouts_kib.begin(), config.shmem_carveouts_kib.begin() + config.num_carveouts);
  const uint32_t warps_by_registers =
      needs.registers_per_warp == 0
          ? config.max_warps
          : config.registers / config.sub_cores / needs.registers_per_warp * config.sub_cores;
  const std::array<std::pair<uint32_t, const char*>, 4> limits = {{
      {config.max_warps / needs.warps, "warps"},
      {warps_by_registers / needs.warps, "registers"},
      {needs.shmem_bytes == 0 ? config.max_ctas : largest_carveout * 1024 / needs.shmem_bytes,
       "shared memory"},
      {config.max_ctas, "CTAs"},
  }};
  const auto lowest = std::min_element(limits.begin(), limits.end(),
                                       [](const auto& a, const auto& b) { return a.first < b.first; });
  result.ctas_per_sm = lowest->first;
  result.limiter = lowest->second;
  if (result.ctas_per_sm == 0) {
    return TooLarge(kernel, "shmem", "shmem_allocated", "largest_carveout",
                    {needs.shmem_bytes, uint64_t{largest_carveout} * 1024});
  }
  needs.carveout_kib = SmallestCarveout(config, result.ctas_per_sm * needs.shmem_bytes);
  return result;
}

}  // namespace sm89
