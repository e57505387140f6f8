// Tag store of the L1 data cache: sectored lines, set-associative with many ways, least recently used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/line_map.h"
#include "sim/base/types.h"

namespace sm89 {

class L1Cache {
 public:
  // Sized for the largest capacity; Reset chooses how much of it is in use.
  L1Cache(uint32_t sets, uint32_t max_ways);

  // Empties the cache and gives it `ways` ways (the carve-out of a kernel).
  void Reset(uint32_t ways);

  // Sectors of the line that are present (0 when it is absent); a present line becomes most recently used.
  uint8_t Touch(uint64_t line);

  // Without making it more recently used.
  uint8_t Present(uint64_t line) const {
    const uint32_t index = index_.Find(line);
    return index == LineMap::kAbsent ? uint8_t{0} : entries_[index].valid;
  }

  struct Evicted {
    uint64_t line = 0;
    uint8_t dirty_mask = 0;  // 0: nothing to write back
  };
  // Adds sectors (allocating the line, evicting the set's oldest when needed).
  Evicted Fill(uint64_t line, uint8_t valid_mask, uint8_t dirty_mask);

 private:
  static constexpr uint32_t kNil = ~0u;
  struct Entry {
    uint64_t line = 0;
    uint32_t newer = kNil;
    uint32_t older = kNil;
    uint8_t valid = 0;
    uint8_t dirty = 0;
  };
  struct Set {
    uint32_t newest = kNil;
    uint32_t oldest = kNil;
    uint32_t used = 0;
  };

  uint32_t SetOf(uint64_t line) const;
  void Unlink(Set* set, uint32_t index);
  void LinkNewest(Set* set, uint32_t index);

  uint32_t ways_;
  uint32_t max_ways_;
  std::vector<Set> sets_;
  std::vector<Entry> entries_;
  LineMap index_;
};

}  // namespace sm89
