// Reads what an opcode's modifiers say: "LDG.E.128.STRONG.GPU" -> width 16, 64-bit address, scope GPU.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/isa/decoded_inst.h"
#include "sim/isa/opcode_table.h"

namespace sm89 {

// The text up to the first '.'.
std::string_view BaseMnemonic(std::string_view opcode);

// Walks the dot-separated parts after the base mnemonic.
class ModifierReader {
 public:
  explicit ModifierReader(std::string_view opcode);
  // False at the end.
  bool Next(std::string_view* modifier);

 private:
  std::string_view rest_;
};

bool HasModifier(std::string_view opcode, std::string_view modifier);

// Bytes a lane that a memory instruction moves; 4 when no modifier says otherwise. LDSM: the 16-byte row that
// one lane's address names. 0 for instructions without data in memory.
uint8_t AccessWidthBytes(const OpcodeRow& row, std::string_view opcode);

// Number of 8x8 matrices of an LDSM: 1, 2 or 4.
uint8_t MatrixCount(std::string_view opcode);

// Scope of a strong access, of a fence, kNone for a weak access. A bare ".SYS" (sm_70 puts one on every
// access) is weak.
Scope ScopeOf(const OpcodeRow& row, std::string_view opcode);

// Shape and types of a tensor instruction. False when the opcode names no shape.
bool ParseTensorOp(std::string_view opcode, TensorOp* op);

// Bits of one element of a matrix; 0 for kNone.
uint32_t ElementBits(TensorType type);

// Registers a lane that hold the fragments of A, B and of C or D.
struct FragmentRegs {
  uint8_t a = 1, b = 1, c = 1;
};
FragmentRegs FragmentsOf(const TensorOp& op, bool volta_step);

}  // namespace sm89
