// What an instruction handler sees: one warp's registers, the lanes to execute, operands resolved once a
// launch.
//
// A kernel is compiled once a launch: every static instruction becomes a Compiled with a handler and operands
// that need no decoding (constants and immediates are broadcast rows, since constant banks do not change
// during a launch). A handler works on all 32 lanes of a row and writes only the executed ones.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "absl/status/statusor.h"
#include "sim/base/types.h"
#include "sim/sass/instruction.h"

namespace sm89::emu {

inline constexpr LaneMask kAllLanes = ~LaneMask{0};
// 32 lanes of one 32-bit register.
struct alignas(64) Row {
  std::array<uint32_t, kWarpSize> lane{};
};

// Bit of each lane, for loops that go from masks to rows and back.
inline constexpr std::array<uint32_t, kWarpSize> kLaneBit = [] {
  std::array<uint32_t, kWarpSize> bits{};
  for (int i = 0; i < kWarpSize; ++i) bits[i] = 1u << i;
  return bits;
}();

// Rows of a warp: registers 0..n-1, then kZeroRows that stay 0 (RZ as a source, also of pairs and quads),
// then kTrashRows that nobody reads (RZ as a destination).
inline constexpr uint32_t kZeroRows = 8;
inline constexpr uint32_t kTrashRows = 8;

struct WarpRegs {
  Row* rows = nullptr;
  std::array<uint32_t, 64 + 4> ur{};  // ur[63..] stay 0; writes to URZ are dropped by WriteUr
  std::array<LaneMask, 8> pred{};     // a bit a lane; pred[7] is always all ones
  std::array<bool, 8> upred{};        // upred[7] is always true
};

// A source operand, ready to read.
struct Src {
  enum class Kind : uint8_t { kNone, kRow, kFixed, kUniform };
  Kind kind = Kind::kNone;
  bool neg = false, abs = false, inv = false;
  uint8_t ureg = 0;
  uint32_t row = 0;            // kRow: first row
  const Row* fixed = nullptr;  // kFixed: immediates and constants, one row a 32-bit part, low part first
};

struct PredSrc {
  bool uniform = false;
  bool inv = false;
  uint8_t index = 7;
};

struct Exec;
struct Compiled;
using Handler = void (*)(Exec& x, const Compiled& c);

// One static instruction of a launch. ResolveOperands (resolve.h) fills all but run, index, imm and mod,
// before the compile functions below are called. `imm` and `mod` are the handler's own: its compile function
// fills them.
struct Compiled {
  Handler run = nullptr;
  const sass::Instruction* inst = nullptr;
  uint32_t index = 0;  // instruction number in the function
  PredSrc guard;
  uint32_t d = 0;  // first destination row (trash for RZ), or uniform register number
  bool d_uniform = false;
  uint8_t d_regs = 0;
  std::array<Src, 4> src{};  // kA, kB, kC, kE
  PredSrc p, q, r;           // kPp, kPq, kPr
  uint8_t pu = 7, pv = 7;    // destination predicates (uniform ones where the form says so)
  bool pu_uniform = false;
  std::array<uint32_t, 4> mod{};
  int64_t imm = 0;
};
inline constexpr int kSrcA = 0, kSrcB = 1, kSrcC = 2, kSrcE = 3;

// The state a handler runs on. Machine (machine.h) owns it.
struct Exec {
  WarpRegs* w = nullptr;
  LaneMask active = 0;  // lanes of the running split
  LaneMask lanes = 0;   // active and guard true: the lanes to execute
  struct Machine* machine =
      nullptr;  // memory, special registers, control flow; only their handlers look at it
  // Control flow. The loop sets next_pc to the following instruction; a branch writes another one. A handler
  // that ends the split's turn sets stop.
  uint32_t pc = 0;  // instruction numbers
  uint32_t next_pc = 0;
  bool stop = false;
  bool end_turn = false;  // another warp runs next
};

// --- Reading. `part` is the register of a pair or quad. ---

// The row of a source without neg/abs/inv applied. `scratch` holds it when it has to be built (uniform
// register).
inline const Row& ReadRaw(const Exec& x, const Src& s, uint32_t part, Row& scratch) {
  switch (s.kind) {
    case Src::Kind::kRow:
      return x.w->rows[s.row + part];
    case Src::Kind::kFixed:
      return s.fixed[part];
    case Src::Kind::kUniform:
      scratch.lane.fill(x.w->ur[s.ureg + part]);
      return scratch;
    case Src::Kind::kNone:
      break;
  }
  scratch.lane.fill(0);
  return scratch;
}

// FP32: |x| then -x.
inline const Row& ReadF32(const Exec& x, const Src& s, Row& scratch) {
  const Row& raw = ReadRaw(x, s, 0, scratch);
  if (!s.neg && !s.abs) return raw;
  const uint32_t clear = s.abs ? 0x7fffffffu : 0xffffffffu;
  const uint32_t flip = s.neg ? 0x80000000u : 0u;
  for (int i = 0; i < kWarpSize; ++i) scratch.lane[i] = (raw.lane[i] & clear) ^ flip;
  return scratch;
}

// 32-bit integer: ~x or two's complement.
inline const Row& ReadInt(const Exec& x, const Src& s, Row& scratch) {
  const Row& raw = ReadRaw(x, s, 0, scratch);
  if (!s.neg && !s.inv) return raw;
  const uint32_t flip = 0xffffffffu, add = s.neg ? 1u : 0u;
  for (int i = 0; i < kWarpSize; ++i) scratch.lane[i] = (raw.lane[i] ^ flip) + add;
  return scratch;
}

inline LaneMask ReadPred(const Exec& x, const PredSrc& p) {
  const LaneMask value = p.uniform ? (x.w->upred[p.index] ? kAllLanes : 0) : x.w->pred[p.index];
  return p.inv ? ~value : value;
}
inline bool ReadUPred(const Exec& x, const PredSrc& p) { return x.w->upred[p.index] != p.inv; }

// --- Writing: only the executed lanes. ---

inline void WriteRow(Exec& x, uint32_t row, const Row& value) {
  Row& d = x.w->rows[row];
  if (x.lanes == kAllLanes) {
    d = value;
    return;
  }
  // A blend, not a walk over set bits: compilers turn it into vector code.
  for (int i = 0; i < kWarpSize; ++i) {
    const uint32_t take = (x.lanes & kLaneBit[i]) != 0 ? ~0u : 0u;
    d.lane[i] = (d.lane[i] & ~take) | (value.lane[i] & take);
  }
}

inline void WritePred(Exec& x, uint8_t index, LaneMask value) {
  if (index == 7) return;
  x.w->pred[index] = (x.w->pred[index] & ~x.lanes) | (value & x.lanes);
}
inline void WriteUPred(Exec& x, uint8_t index, bool value) {
  if (index != 7) x.w->upred[index] = value;
}
inline void WriteUr(Exec& x, uint32_t index, uint32_t value) {
  if (index < 63) x.w->ur[index] = value;
}

// Elementwise over lanes; F: (a, b, c) -> uint32_t. Reads as integers with neg/inv applied.
template <typename F>
inline void MapInt3(Exec& x, const Compiled& c, F f) {
  Row sa, sb, sc, out;
  const Row& a = ReadInt(x, c.src[kSrcA], sa);
  const Row& b = ReadInt(x, c.src[kSrcB], sb);
  const Row& d = ReadInt(x, c.src[kSrcC], sc);
  for (int i = 0; i < kWarpSize; ++i) out.lane[i] = f(a.lane[i], b.lane[i], d.lane[i]);
  WriteRow(x, c.d, out);
}

// Chooses the handler of an instruction and fills its mod/imm. UNIMPLEMENTED names the mnemonic and modifiers
// that have no handler. One function a family; each answers NOT_FOUND for mnemonics that are not its own.
absl::Status CompileAlu(const sass::Instruction& inst,
                        Compiled* c);  // alu_*.cc: all that touch only registers
absl::Status CompileMemory(const sass::Instruction& inst,
                           Compiled* c);  // memory_ops*.cc: loads, stores, atomics, LDSM ...
absl::Status CompileControl(const sass::Instruction& inst,
                            Compiled* c);  // control_ops.cc: branches, barriers, S2R ...

}  // namespace sm89::emu
