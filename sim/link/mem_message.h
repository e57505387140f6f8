// What travels between an SM and the memory side. Plain values; the only way the two meet.
#pragma once

#include <array>
#include <cstdint>

#include "sim/base/types.h"

namespace sm89 {

enum class MemRequestKind : uint8_t { kRead, kWrite, kAtomic, kReduction };

// What the request direction of the interconnect and the input of a slice count: 32 bytes, a sector of data
// or the head of a packet that says which bytes or lanes it means.
inline constexpr uint32_t kFlitBytes = 32;

// Sectors in a mask of a line's four.
constexpr uint32_t CountSectors(uint32_t mask) {
  return static_cast<uint32_t>(0x4332322132212110ull >> (4 * (mask & 15)) & 15);
}

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
  bool local = false;              // local memory
  uint8_t lanes = 1;               // atomics: operations in the request
  uint8_t same_address_lanes = 1;  // atomics: the most of them on one address, one packet each
  uint8_t atomic_flits = 1;        // atomics: flits of all packets
  // Writes: bit i = byte i of the line is written; looked at for sectors of partial_mask only. None of a
  // partial sector's bits: which bytes is not known, so that the sector is never taken for complete.
  std::array<uint64_t, 2> byte_mask{};
};

// Flits that a request's data take, 0 for a read. Of a write: its sectors, and one more where bytes of a
// sector are left out (measured on an H200, tests/data/requests: 4 cycles of an SM's port for a full line,
// 5 for a word in each of its sectors).
constexpr uint32_t DataFlits(const MemRequest& request) {
  switch (request.kind) {
    case MemRequestKind::kRead:
      return 0;
    case MemRequestKind::kWrite:
      return CountSectors(request.sector_mask) + (request.partial_mask != 0 ? 1 : 0);
    case MemRequestKind::kAtomic:
    case MemRequestKind::kReduction:
      return request.atomic_flits;
  }
  return 0;
}

// Data of a read or an atomic, acknowledgement of a write or a reduction: the SM knows which by the token.
struct MemReply {
  Cycle cycle = 0;  // arrives at the SM
  uint32_t token = 0;
  uint8_t l2_read_sectors = 0;  // reads: sectors asked for
  uint8_t l2_read_hits = 0;     // of them, those that the L2 had
};

}  // namespace sm89
