// Machine words to instructions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/sass/instruction.h"

namespace sm89::sass {

// Architectures the table covers, as the ELF header numbers them.
inline constexpr uint32_t kSm80 = 80, kSm86 = 86, kSm89 = 89, kSm90 = 90;

// INVALID_ARGUMENT naming the word and the reason: unknown opcode, a bit that no field explains, an enum
// value without a name.
absl::StatusOr<Instruction> Decode(Word128 word, uint32_t arch);

struct PrintOptions {
  uint64_t pc = 0;  // byte address of the instruction, for branch targets
  // Text for a branch target at byte address `value`; empty: "0x...".
  std::string (*label)(uint64_t address, void* context) = nullptr;
  void* label_context = nullptr;
};
// As the vendor's disassembler spells it, guard included: "@!P0 IADD3 R2, R2.reuse, -0x1, RZ".
std::string Print(const Instruction& inst, const PrintOptions& options);
// Mnemonic with all shown modifiers, without guard and operands: "IMAD.WIDE.U32".
std::string PrintOpcode(const Instruction& inst);
// "SR_TID.X"; "SR" + number where no name is known.
std::string SpecialRegisterName(uint32_t index);
// Special registers by name, as Instruction's kSpecialReg operands number them.
enum SpecialReg : uint32_t {
  kSrLaneid = 0x00,
  kSrVirtid = 0x03,
  kSrTidX = 0x21,
  kSrTidY = 0x22,
  kSrTidZ = 0x23,
  kSrCtaidX = 0x25,
  kSrCtaidY = 0x26,
  kSrCtaidZ = 0x27,
  kSrEqmask = 0x38,
  kSrLtmask = 0x39,
  kSrLemask = 0x3a,
  kSrGtmask = 0x3b,
  kSrGemask = 0x3c,
  kSrClockLo = 0x50,
  kSrClockHi = 0x51,
  kSrGlobalTimerLo = 0x52,
  kSrGlobalTimerHi = 0x53,
  kSrZero = 0xff,  // CS2R Rx, SRZ
};

// What a global or generic atomic works on, as AtomSize, whatever the architecture's encoding.
uint32_t AtomSizeOf(const Instruction& inst);

// Shape and operand layout of a tensor instruction.
struct MmaShape {
  uint16_t m = 0, n = 0, k = 0;  // k: logical depth (dense-equivalent for sparse forms)
};
// Zero shape when `inst` is not a tensor instruction.
MmaShape ShapeOf(const Instruction& inst);

}  // namespace sm89::sass
