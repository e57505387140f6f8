// Tags of a small set-associative cache with least-recently-used replacement and a time for each line: the
// cycle from which its data are there. For the instruction, constant and translation caches of an SM.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/base/assert.h"
#include "sim/base/types.h"

namespace sm89 {

class LruTags {
 public:
  LruTags(uint32_t sets, uint32_t ways) : sets_(sets), ways_(ways), entries_(sets * ways) {
    SM89_ASSERT(sets > 0 && ways > 0, "a cache has lines");
  }

  // A cache of `bytes` in lines of `line_bytes`; at least one set.
  static LruTags OfSize(uint32_t bytes, uint32_t ways, uint32_t line_bytes) {
    return {std::max<uint32_t>(bytes / line_bytes / ways, 1), ways};
  }

  // Ready time of the line, which becomes the most recently used one; null when it is absent.
  const Cycle* Find(uint64_t line) {
    Entry* set = SetOf(line);
    for (uint32_t way = 0; way < ways_; ++way) {
      if (set[way].tag != line) continue;
      set[way].last_use = ++uses_;
      return &set[way].ready;
    }
    return nullptr;
  }
  void Insert(uint64_t line, Cycle ready) {
    Entry* set = SetOf(line);
    Entry* victim = set;
    for (uint32_t way = 1; way < ways_; ++way) {
      if (set[way].last_use < victim->last_use) victim = &set[way];
    }
    *victim = {line, ready, ++uses_};
  }
  void Clear() {
    for (Entry& entry : entries_) entry = Entry{};
    uses_ = 0;
  }

 private:
  struct Entry {
    uint64_t tag = ~uint64_t{0};
    Cycle ready = 0;
    uint64_t last_use = 0;
  };

  Entry* SetOf(uint64_t line) {
    const uint64_t set = (sets_ & (sets_ - 1)) == 0 ? line & (sets_ - 1) : line % sets_;
    return &entries_[set * ways_];
  }

  uint32_t sets_, ways_;
  uint64_t uses_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace sm89
