#include "sim/emu/memory_space.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "sim/base/assert.h"

namespace sm89::emu {

void GlobalMemory::Add(Allocation allocation) {
  const auto at = std::upper_bound(list_.begin(), list_.end(), allocation.base,
                                   [](uint64_t base, const Allocation& a) { return base < a.base; });
  SM89_ASSERT(at == list_.end() || allocation.end() <= at->base, "allocations overlap");
  SM89_ASSERT(at == list_.begin() || std::prev(at)->end() <= allocation.base, "allocations overlap");
  list_.insert(at, std::move(allocation));
}

Allocation* GlobalMemory::Find(uint64_t address, uint64_t size_bytes) {
  auto at = std::upper_bound(list_.begin(), list_.end(), address,
                             [](uint64_t a, const Allocation& b) { return a < b.base; });
  if (at == list_.begin()) return nullptr;
  --at;
  const uint64_t offset = address - at->base;
  return offset < at->size() && at->size() - offset >= size_bytes ? &*at : nullptr;
}

const Allocation* GlobalMemory::Nearest(uint64_t address) const {
  const Allocation* best = nullptr;
  uint64_t best_distance = ~uint64_t{0};
  for (const Allocation& a : list_) {
    uint64_t distance = 0;
    if (address < a.base) distance = a.base - address;
    if (address >= a.end()) distance = address - a.end() + 1;
    if (best == nullptr || distance < best_distance) best = &a;
    best_distance = std::min(best_distance, distance);
  }
  return best;
}

std::string DescribeNearest(const GlobalMemory& memory, uint64_t address) {
  const Allocation* a = memory.Nearest(address);
  if (a == nullptr) return "the launch has no allocations";
  const std::string what = absl::StrFormat("'%s' (0x%x, %d bytes)", a->name, a->base, a->size());
  if (address < a->base) return absl::StrFormat("%d bytes before %s", a->base - address, what);
  if (address >= a->end()) return absl::StrFormat("%d bytes past the end of %s", address - a->end(), what);
  return absl::StrFormat("%d bytes before the end of %s", a->end() - address, what);
}

}  // namespace sm89::emu
