#include "sim/sm/l1_cache.h"

#include "sim/base/assert.h"

namespace sm89 {

L1Cache::L1Cache(uint32_t sets, uint32_t max_ways)
    : ways_(max_ways),
      max_ways_(max_ways),
      sets_(sets),
      entries_(std::size_t{sets} * max_ways),
      index_(sets * max_ways) {
  SM89_ASSERT(sets > 0, "an L1 has sets");
}

void L1Cache::Reset(uint32_t ways) {
  SM89_ASSERT(ways <= max_ways_, "a carve-out cannot enlarge the L1");
  ways_ = ways;
  for (Set& set : sets_) set = Set{};
  index_.Clear();
}

uint32_t L1Cache::SetOf(uint64_t line) const {
  // Upper bits take part, so that power-of-two strides use every set.
  return static_cast<uint32_t>((line ^ (line >> 7) ^ (line >> 14)) % sets_.size());
}

void L1Cache::Unlink(Set* set, uint32_t index) {
  Entry& e = entries_[index];
  (e.newer == kNil ? set->newest : entries_[e.newer].older) = e.older;
  (e.older == kNil ? set->oldest : entries_[e.older].newer) = e.newer;
}

void L1Cache::LinkNewest(Set* set, uint32_t index) {
  Entry& e = entries_[index];
  e.newer = kNil;
  e.older = set->newest;
  (set->newest == kNil ? set->oldest : entries_[set->newest].newer) = index;
  set->newest = index;
}

uint8_t L1Cache::Touch(uint64_t line) {
  const uint32_t index = index_.Find(line);
  if (index == LineMap::kAbsent) return 0;
  Set& set = sets_[SetOf(line)];
  if (set.newest != index) {
    Unlink(&set, index);
    LinkNewest(&set, index);
  }
  return entries_[index].valid;
}

L1Cache::Evicted L1Cache::Fill(uint64_t line, uint8_t valid_mask, uint8_t dirty_mask) {
  Evicted evicted;
  if (ways_ == 0) return evicted;
  const uint32_t set_number = SetOf(line);
  Set& set = sets_[set_number];
  uint32_t index = index_.Find(line);
  if (index == LineMap::kAbsent) {
    if (set.used < ways_) {
      index = set_number * max_ways_ + set.used++;
    } else {
      index = set.oldest;
      Unlink(&set, index);
      index_.Erase(entries_[index].line);
      evicted = {entries_[index].line, entries_[index].dirty};
    }
    entries_[index] = Entry{};
    entries_[index].line = line;
    index_.Insert(line, index);
    LinkNewest(&set, index);
  } else if (set.newest != index) {
    Unlink(&set, index);
    LinkNewest(&set, index);
  }
  entries_[index].valid |= valid_mask | dirty_mask;
  entries_[index].dirty |= dirty_mask;
  return evicted;
}

}  // namespace sm89
