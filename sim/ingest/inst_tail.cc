#include "sim/ingest/inst_tail.h"

#include <algorithm>
#include <bit>

#include "sim/isa/modifiers.h"

namespace sm89 {
namespace {

using Immediate = LineFormat::Immediate;

// Suffix of a fork's stores: the values written. It carries nothing that timing needs.
constexpr std::string_view kStoreData = "STORE_DATA";

void PutAddress(uint64_t address, Tail* tail) {
  tail->addresses[tail->num_addresses++] = address;
  tail->has_zero_address |= address == 0;
}

// Mode 0: one address an active lane. Where an immediate may follow or not (version 4), 0x is what tells an
// address from it.
bool ParseList(Cursor& cursor, LaneMask mask, bool need_0x, Tail* tail) {
  for (int n = std::popcount(mask); n > 0; --n) {
    uint64_t address = 0;
    if (!cursor.Hex(&address, need_0x)) return false;
    PutAddress(address, tail);
  }
  return true;
}

// Mode 1: the first active lane's address and the distance between neighbouring lanes.
bool ParseStride(Cursor& cursor, LaneMask mask, Tail* tail) {
  uint64_t base = 0;
  int64_t stride = 0;
  if (!cursor.Hex(&base) || !cursor.Decimal(&stride)) return false;
  const int first = std::countr_zero(mask);
  for (LaneMask left = mask; left != 0; left &= left - 1) {
    const auto distance = static_cast<uint64_t>(std::countr_zero(left) - first);
    PutAddress(base + distance * static_cast<uint64_t>(stride), tail);
  }
  return true;
}

// Mode 2: the first active lane's address, then the step from each active lane to the next one.
bool ParseDeltas(Cursor& cursor, LaneMask mask, Tail* tail) {
  uint64_t address = 0;
  if (!cursor.Hex(&address)) return false;
  PutAddress(address, tail);
  for (int n = std::popcount(mask) - 1; n > 0; --n) {
    int64_t delta = 0;
    if (!cursor.Decimal(&delta)) return false;
    address += static_cast<uint64_t>(delta);
    PutAddress(address, tail);
  }
  return true;
}

bool ParseMemory(Cursor& cursor, LaneMask mask, Immediate immediate, Tail* tail) {
  const std::string_view mode = cursor.Token();
  if (mode == "0") return ParseList(cursor, mask, immediate == Immediate::kOptional, tail);
  if (mode == "1") return ParseStride(cursor, mask, tail);
  if (mode == "2") return ParseDeltas(cursor, mask, tail);
  return false;
}

// Tokens left, a fork's suffix not counted, up to `limit`.
int CountTokens(Cursor cursor, int limit) {
  int count = 0;
  while (count < limit) {
    const std::string_view token = cursor.Token();
    if (token.empty() || token == kStoreData || token == "Val" || token == "NoVal") break;
    ++count;
  }
  return count;
}

// A memory instruction without an active lane has no address. Tracers write nothing, "0", "1 0x0 0" or
// "2 0x0"; which one is told by the number of tokens before the immediates.
bool SkipEmptyMemory(Cursor& cursor, Immediate immediate) {
  constexpr int kLongest = 6;
  int operands = CountTokens(cursor, kLongest);
  if (immediate == Immediate::kOne) operands -= 1;
  if (immediate == Immediate::kTwo) operands -= 2;
  Cursor peek = cursor;
  const std::string_view mode = peek.Token();
  const int form = mode == "0" ? 1 : mode == "1" ? 3 : mode == "2" ? 2 : 0;
  if (immediate == Immediate::kOptional) {
    // The immediate may be absent: a lone token is one, and behind a complete form it may follow.
    if (operands <= 1) return true;
    if (form == 0 || (operands != form && operands != form + 1)) return false;
    operands = form;
  }
  if (operands == 0) return true;
  if (operands != form) return false;
  for (int i = 0; i < operands; ++i) cursor.Token();
  return true;
}

// Barrier, multicast flag (and mask), bytes, bytes out of bounds, then a list or deltas. SM89 has no such
// instruction: the operands are checked for shape and dropped. Written from the format's description
// (tracer 6); no trace by a real tracer was at hand to verify it.
bool SkipTma(Cursor& cursor) {
  uint64_t hex = 0;
  int64_t multicast = 0;
  int64_t number = 0;
  if (!cursor.Hex(&hex) || !cursor.Decimal(&multicast)) return false;
  if (multicast != 0 && (multicast != 1 || !cursor.Hex(&hex))) return false;
  if (!cursor.Decimal(&number) || !cursor.Decimal(&number)) return false;
  const std::string_view mode = cursor.Token();
  int64_t count = 0;
  if (mode == "3") {
    if (!cursor.Decimal(&count) || count < 0) return false;
    for (int64_t i = 0; i < count; ++i) {
      if (!cursor.Hex(&hex)) return false;
    }
    return true;
  }
  if (mode != "4" || !cursor.Hex(&hex) || !cursor.Decimal(&count) || count < 0) return false;
  for (int64_t i = 1; i < count; ++i) {
    if (!cursor.Decimal(&number)) return false;
  }
  return true;
}

// "NoVal", or "Val" and for each register "1 <hex>" (uniform) or "32 <hex> ..." (one a lane). Unverified,
// as above.
bool SkipValues(Cursor& cursor, int num_registers) {
  const std::string_view word = cursor.Token();
  if (word == "NoVal") return true;
  if (word != "Val") return false;
  for (int i = 0; i < num_registers; ++i) {
    const std::string_view count = cursor.Token();
    if (count != "1" && count != "32") return false;
    for (int n = count == "1" ? 1 : 32; n > 0; --n) {
      uint64_t value = 0;
      if (!cursor.Hex(&value)) return false;
    }
  }
  return true;
}

bool AtSuffixOrEnd(Cursor cursor) {
  const std::string_view token = cursor.Token();
  return token.empty() || token == kStoreData;
}

bool ParseImmediates(Cursor& cursor, Immediate immediate, Tail* tail) {
  if (immediate == Immediate::kNone) return true;
  if (immediate == Immediate::kOptional && AtSuffixOrEnd(cursor)) return true;
  tail->has_immediate = true;
  if (!cursor.Decimal(&tail->immediate)) return false;
  return immediate != Immediate::kTwo || cursor.Decimal(&tail->immediate2);
}

}  // namespace

bool IsTmaOpcode(std::string_view opcode) {
  constexpr std::array<std::string_view, 7> kTma = {"UTMALDG", "UTMASTG", "UTMAPF", "UTMAREDG",
                                                    "UBLKCP",  "UBLKPF",  "UBLKRED"};
  return std::find(kTma.begin(), kTma.end(), BaseMnemonic(opcode)) != kTma.end();
}

bool ParseTail(Cursor cursor, const TailShape& shape, LaneMask mask, Immediate immediate, Tail* tail) {
  tail->num_addresses = 0;
  tail->has_zero_address = false;
  tail->has_immediate = false;
  tail->immediate = 0;
  tail->immediate2 = 0;
  bool good = true;
  if (shape.is_tma) {
    good = SkipTma(cursor);
  } else if (shape.mem_width != 0) {
    good = mask != 0 ? ParseMemory(cursor, mask, immediate, tail) : SkipEmptyMemory(cursor, immediate);
  }
  if (!good || !ParseImmediates(cursor, immediate, tail)) return false;
  if (immediate == Immediate::kTwo && !SkipValues(cursor, shape.num_registers)) return false;
  return AtSuffixOrEnd(cursor);
}

}  // namespace sm89
