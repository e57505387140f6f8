// One decoded machine instruction of sm_80..sm_90: what each operand and modifier is, by role, so that the
// printer, the analyses and the emulator never look at bits.
//
// The encoding is 128 bits; `docs` of every field are the rows of form_table.cc. Source of the layout:
// observation of ptxas output (sm_89), checked word by word.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/sass/fields.h"

namespace sm89::sass {

// The 128 bits of an instruction, as two little-endian words.
struct Word128 {
  uint64_t lo = 0;  // bits 0-63
  uint64_t hi = 0;  // bits 64-127

  // Bits [first, first + count), count <= 64; a field may straddle both words.
  constexpr uint64_t Bits(unsigned first, unsigned count) const {
    uint64_t value = 0;
    if (first >= 64) {
      value = hi >> (first - 64);
    } else {
      value = lo >> first;
      if (first != 0 && first + count > 64) value |= hi << (64 - first);
    }
    return count >= 64 ? value : value & ((uint64_t{1} << count) - 1);
  }
  constexpr bool Bit(unsigned at) const { return Bits(at, 1) != 0; }

  friend bool operator==(const Word128&, const Word128&) = default;
};

enum class OperandKind : uint8_t {
  kNone,
  kReg,        // R0..R254, 255 = RZ
  kUReg,       // UR0..UR62, 63 = URZ
  kPred,       // P0..P6, 7 = PT
  kUPred,      // UP0..UP6, 7 = UPT
  kImm,        // integer: `value` is the number, already sign-extended and scaled as the form says
  kFloatImm,   // `value` holds the 32 bits of an FP32 constant
  kDoubleImm,  // `value` holds the high 32 bits of an FP64 constant (the low ones are 0)
  kHalfImm,    // `value` holds the 16 bits of an FP16/BF16 constant
  kConst,      // c[bank][offset]: index = bank, value = byte offset; LDC and ULDC may add the register kA
  kConstReg,   // c[URx][offset]: index = the uniform register that holds the bank handle, value = byte offset
  kSpecialReg,  // SR_...: index
  kBarrier,     // convergence barrier B0..B15
  kScoreboard,  // dependence counter SB0..SB5
  kCbuState,    // convergence-barrier unit state that BMOV moves: index
  kTarget,      // `value` is the byte distance from the NEXT instruction's address
};

// The part an operand plays. The register, constant and immediate variants of a source share one slot: Rb, Sb
// and URb are all kB.
enum class Slot : uint8_t {
  kD,   // Rd or URd
  kD2,  // second destination of texture instructions
  kA,
  kB,
  kC,
  kE,        // metadata register of sparse MMA
  kUa,       // uniform register of an address: the descriptor (or L2 policy) of .64 accesses, the offset of
             // LDS/STS
  kPu,       // first destination predicate
  kPv,       // second destination predicate
  kPp,       // first source predicate
  kPq,       // second source predicate
  kPr,       // third source predicate
  kPnz,      // the 4-bit predicate of loads and MMAs (its encoding has `not` in the low bits undone)
  kOffset,   // byte offset of an address; for LDGSTS of the global side
  kSharedA,  // LDGSTS: register with the shared-memory address
  kSharedOffset,  // LDGSTS: its byte offset
  kTarget,        // branch, call, return, BSSY; absolute forms (kAbsolute) have kOffset instead
  kBarrier,       // convergence barrier register
  kSpecial,       // S2R, CS2R, S2UR: the special register
  kCbu,           // BMOV: the state
  kScoreboard,    // DEPBAR
  kCount,         // DEPBAR: how many may stay outstanding; BAR: thread count (register or immediate)
  kScoreboardList,
  kLut,      // LOP3/PLOP3: truth table
  kLut2,     // PLOP3: truth table of the second result
  kScale,    // LEA: shift
  kExtract,  // F2FP: half select; sparse MMA: metadata id
  kImm,      // whatever other immediate a form has (PixMask, BPT, PMTRIG, SHFL's packed c ...)
  kImm2,     // second immediate of such a form: bits [47:32] of an FP16 pair whose [63:48] are kB or kC
  kBank,     // TEX family: constant bank of the handle
  kIndex,    // TEX family: its offset
  kMask,     // TEX family: component mask
};

struct Operand {
  OperandKind kind = OperandKind::kNone;
  Slot slot = Slot::kD;
  bool is_dest = false;
  bool neg = false;    // - of a number
  bool abs = false;    // |..|
  bool inv = false;    // bitwise ~ of an integer, ! of a predicate
  bool reuse = false;  // .reuse: the register-file cache keeps it
  // Consecutive registers read or written; of a constant: 32-bit words read. 1 for predicates, 0 for the
  // rest.
  uint8_t regs = 0;
  uint16_t index = 0;
  int64_t value = 0;

  bool IsReg() const { return kind == OperandKind::kReg; }
  bool IsUReg() const { return kind == OperandKind::kUReg; }
  // Reads as 0 / true and swallows writes.
  bool IsZeroReg() const {
    return (kind == OperandKind::kReg && index == 255) || (kind == OperandKind::kUReg && index == 63) ||
           ((kind == OperandKind::kPred || kind == OperandKind::kUPred) && index == 7);
  }
};

// Scheduling bits [124:105] (and reuse, which sits in the operands too).
struct Control {
  uint8_t stall_cycles = 0;
  bool keep_warp = false;     // bit 109: 1 = prefer this warp again
  uint8_t write_counter = 7;  // 7 = none
  uint8_t read_counter = 7;   // 7 = none
  uint8_t wait_mask = 0;
  uint8_t reuse_mask = 0;  // bit 0 = A, 1 = B, 2 = C
  uint8_t pm = 0;          // bits [103:102], performance-monitor trigger
};

struct Form;  // form_table.h

inline constexpr int kMaxOperands = 12;

struct Instruction {
  Word128 word;
  const Form* form = nullptr;  // never null in a decoded instruction
  Op op = Op::kNop;
  uint32_t arch = 89;  // it was decoded for
  uint8_t guard = 7;   // @P / @UP index, 7 = always
  bool guard_not = false;
  bool guard_uniform = false;  // the guard is a uniform predicate (uniform datapath instructions)
  uint8_t num_operands = 0;
  std::array<Operand, kMaxOperands> operands;  // in printing order
  Control control;

  // Null when the form has no such slot.
  const Operand* Find(Slot slot) const {
    for (int i = 0; i < num_operands; ++i) {
      if (operands[i].slot == slot) return &operands[i];
    }
    return nullptr;
  }
  // Raw value of a modifier field as the enums of fields.h number it; `absent` when the form has no such
  // field.
  uint32_t Get(Field field, uint32_t absent = 0) const;
  bool Has(Field field) const;  // the form has the field
  // True for a branch with a fixed target.
  const Operand* Target() const { return Find(Slot::kTarget); }
};

}  // namespace sm89::sass
