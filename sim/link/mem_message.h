// What travels between an SM and the memory side. Plain values; the only way the two meet.
#pragma once

#include <cstdint>

#include "sim/base/types.h"

namespace sm89 {

enum class MemRequestKind : uint8_t { kRead, kWrite, kAtomic, kReduction };

// One request for sectors of one 128-byte line.
struct MemRequest {
  Cycle cycle = 0;      // leaves the SM's L1
  uint64_t line = 0;    // address / 128
  uint32_t token = 0;   // the SM's name for it, returned with the reply
  uint32_t kernel = 0;  // run index of the kernel whose statistics it counts for
  uint16_t sm = 0;
  uint8_t sector_mask = 0;   // bit i = sector i of the line
  uint8_t partial_mask = 0;  // writes: sectors of which not every byte is written
  MemRequestKind kind = MemRequestKind::kRead;
};

// Reads and atomics answer with data, writes and reductions with an acknowledgement.
struct MemReply {
  Cycle cycle = 0;  // arrives at the SM
  uint32_t token = 0;
  bool has_data = false;
};

}  // namespace sm89
