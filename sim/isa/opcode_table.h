// The opcodes of SM89 and what each does, one row a base mnemonic. Modifiers are read in modifiers.h.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/isa/decoded_inst.h"

namespace sm89 {

// How the operands that a trace names by their first register spread over further registers.
enum class OperandRule : uint8_t {
  kSingle,      // one register each
  kLoad,        // destination by access width; address
  kStore,       // address, then data by access width
  kAtomic,      // destination and data by access width; address
  kLoadMatrix,  // LDSM: one register a matrix
  kAsyncCopy,   // LDGSTS: shared address, global address; no data register
  kConstant,    // LDC, ULDC: destination by access width; sources are 32-bit indices
  kAddress,     // CCTL, QSPC: one address
  kTexture,     // component mask is not in the opcode: pairs where aligned
  kSurfaceLoad,
  kSurfaceStore,
  kTensor,      // fragments by shape and type
  kDouble,      // every operand a pair
  kIntWide,     // IMAD, UIMAD: .WIDE destination and addend are pairs, .HI addend is a pair
  kConvert,     // F2F F2I I2F FRND: pairs where the modifiers name a 64-bit type
  kSystemPair,  // CS2R: a pair unless .32
  kMatch,       // MATCH: .U64 compares a pair
  kJump,        // RET BRX CALL ...: a 64-bit target register
};

// Facts that do not fit a column of their own.
enum OpcodeFlag : uint8_t {
  kWritesPredicate = 1,  // always writes a predicate
  // The text leads with a predicate ("SHFL PT, R2, R4 ..."), so that tracers before version 6 list the
  // destination register as the first source.
  kHiddenDest = 2,
  kFirstIsSource = 4,   // operand 0 is read, though tracers list it as a destination (RET R20)
  kDiscardsResult = 8,  // RED-like: no destination ever
};

struct OpcodeRow {
  std::string_view mnemonic;
  ExecUnit unit = ExecUnit::kMisc;
  OperandRule rule = OperandRule::kSingle;
  MemSpace space = MemSpace::kNone;
  MemOp mem_op = MemOp::kNone;
  ControlOp control = ControlOp::kNone;
  uint8_t flags = 0;

  bool Has(OpcodeFlag flag) const { return (flags & flag) != 0; }
};

// Null when SM89 has no such mnemonic.
const OpcodeRow* FindOpcode(std::string_view base_mnemonic);

// Every row, sorted by mnemonic.
std::span<const OpcodeRow> AllOpcodes();

}  // namespace sm89
