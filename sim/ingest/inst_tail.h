// The part of an instruction line behind the memory width: addresses, immediates, register values.
#pragma once

#include <array>
#include <cstdint>

#include "sim/base/types.h"
#include "sim/ingest/inst_scan.h"
#include "sim/ingest/kernel_header.h"

namespace sm89 {

// What the static part of the line says about its tail.
struct TailShape {
  uint8_t mem_width = 0;      // 0 = no memory operand
  bool is_tma = false;        // bulk copies of tracer 6: other operands
  uint8_t num_registers = 0;  // destinations and sources: as many value groups behind "Val"
};

struct Tail {
  uint32_t num_addresses = 0;
  bool has_zero_address = false;
  bool has_immediate = false;
  int64_t immediate = 0;
  int64_t immediate2 = 0;
  std::array<uint64_t, kWarpSize> addresses;  // the first num_addresses are set
};

// Reads all of it; false when anything is missing, left over or unreadable (DiagnoseTail says what).
bool ParseTail(Cursor cursor, const TailShape& shape, LaneMask mask, LineFormat::Immediate immediate,
               Tail* tail);

// True for the opcodes that tracer 6 writes with the operands of a bulk copy.
bool IsTmaOpcode(std::string_view opcode);

}  // namespace sm89
