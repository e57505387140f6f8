#include "sim/tools/access_summary.h"

#include <bit>
#include <span>

#include "sim/base/assert.h"
#include "sim/sm/coalescer.h"

namespace sm89 {
namespace {

bool HasAddressSpace(MemSpace space) {
  return space == MemSpace::kGlobal || space == MemSpace::kShared || space == MemSpace::kLocal ||
         space == MemSpace::kGeneric;
}

uint32_t Sectors(std::span<const LineAccess> lines) {
  uint32_t sectors = 0;
  for (const LineAccess& line : lines) sectors += static_cast<uint32_t>(std::popcount(line.sector_mask));
  return sectors;
}

}  // namespace

AccessSummary SummarizeAccess(const KernelCode& kernel, const DynInst& inst) {
  SM89_ASSERT(inst.static_id < kernel.insts.size(), "the code belongs to the trace");
  const SmInst& code = kernel.insts[inst.static_id];
  AccessSummary summary;
  if (inst.shape == nullptr || !HasAddressSpace(code.space)) return summary;
  CoalescedAccess access;
  Coalesce(code, inst, kernel, LocalWindow{}, nullptr, &access);
  summary.accesses_memory = true;
  summary.global_lines = access.num_lines;
  summary.global_sectors = Sectors(std::span(access.lines).first(access.num_lines));
  summary.local_lines = access.num_local_lines;
  summary.local_sectors = Sectors(std::span(access.local_lines).first(access.num_local_lines));
  summary.shared_passes = access.shared_passes;
  summary.shared_passes_min = access.shared_passes_min;
  return summary;
}

}  // namespace sm89
