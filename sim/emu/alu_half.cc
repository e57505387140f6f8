// Packed FP16 and BF16: HADD2 HMUL2 HFMA2 HMNMX2 HSET2 HSETP2.
#include "sim/emu/alu_convert_lanes.h"
#include "sim/emu/alu_families.h"
#include "sim/emu/alu_lanes.h"
#include "sim/emu/alu_scalar.h"
#include "sim/num/fp16x2.h"

namespace sm89::emu {

namespace {

using sass::Field;
using sass::Instruction;
using sass::Op;

// Places of the swizzles of A, B, C in Compiled::imm, 3 bits each; the HalfOut above them.
constexpr int kFormatShift = 9;

num::Swizzle SwizzleOf(const Compiled& c, int source) {
  return static_cast<num::Swizzle>(c.imm >> (3 * source) & 7);
}
num::HalfOut FormatOf(const Compiled& c) { return static_cast<num::HalfOut>(c.imm >> kFormatShift & 3); }
bool IsBf16(const Compiled& c) { return FormatOf(c) == num::HalfOut::kBf16; }

// A source with its selector applied to the register, then |x|, then -x on both halves.
const Row& ReadHalves(const Exec& x, const Compiled& c, int source, Row& scratch) {
  const Src& s = c.src[source];
  const Row& raw = ReadRaw(x, s, 0, scratch);
  const num::Swizzle swizzle = SwizzleOf(c, source);
  if (swizzle == num::Swizzle::kH1H0 && !s.neg && !s.abs) return raw;
  const uint32_t clear = s.abs ? 0x7fff7fffu : ~0u, flip = s.neg ? 0x80008000u : 0;
  switch (swizzle) {
    case num::Swizzle::kH1H0:
      for (int i = 0; i < kWarpSize; ++i) scratch.lane[i] = (raw.lane[i] & clear) ^ flip;
      break;
    case num::Swizzle::kH0H0:
      for (int i = 0; i < kWarpSize; ++i) {
        scratch.lane[i] = ((raw.lane[i] << 16 | (raw.lane[i] & 0xffff)) & clear) ^ flip;
      }
      break;
    case num::Swizzle::kH1H1:
      for (int i = 0; i < kWarpSize; ++i) {
        scratch.lane[i] = ((raw.lane[i] >> 16 | (raw.lane[i] & 0xffff0000u)) & clear) ^ flip;
      }
      break;
    default:
      for (int i = 0; i < kWarpSize; ++i) {
        scratch.lane[i] = (num::ApplySwizzle(raw.lane[i], swizzle) & clear) ^ flip;
      }
  }
  return scratch;
}

int Second(const Compiled& c) { return c.src[kSrcB].kind != Src::Kind::kNone ? kSrcB : kSrcC; }

num::HalfMode ModeOf(const Compiled& c) {
  return {.ftz = c.mod[0] == sass::kFmzFtz,
          .fmz = c.mod[0] == sass::kFmzFmz,
          .sat = c.mod[1] != 0,
          .relu = c.mod[2] != 0,
          .out = FormatOf(c)};
}

void Add(Exec& x, const Compiled& c) {
  ScratchRow sa, sb;
  const Row& a = ReadHalves(x, c, kSrcA, sa);
  const Row& b = ReadHalves(x, c, Second(c), sb);
  WholeRow(x, c.d, [&](uint32_t* to) { num::Hadd2Lanes(a.lane.data(), b.lane.data(), to, ModeOf(c)); });
}

// HADD2.F32 d, -RZ, h: how ptxas converts a half to FP32; -0 + h is h.
void HalfToSingle(Exec& x, const Compiled& c) {
  const int source = Second(c);
  const Src& s = c.src[source];
  ScratchRow scratch;
  const uint32_t* raw = ReadRaw(x, s, 0, scratch).lane.data();
  const uint32_t shift = SwizzleOf(c, source) == num::Swizzle::kH1H1 ? 16 : 0;
  const uint32_t clear = s.abs ? 0x7fff : 0xffff, flip = s.neg ? 0x8000 : 0;
  EachLane(x, c.d, [=](int i) { return SingleOfHalf((raw[i] >> shift & clear) ^ flip); });
}

bool IsHalfToSingle(const Instruction& inst, const Compiled& c) {
  const sass::Operand* a = inst.Find(sass::Slot::kA);
  const num::Swizzle swizzle = SwizzleOf(c, Second(c));
  return a != nullptr && a->IsReg() && a->IsZeroReg() && c.src[kSrcA].neg &&
         FormatOf(c) == num::HalfOut::kF32 && c.mod[0] == 0 && c.mod[1] == 0 &&
         swizzle != num::Swizzle::kF32 && swizzle != num::Swizzle::kH0NH1;
}

void Multiply(Exec& x, const Compiled& c) {
  ScratchRow sa, sb;
  const Row& a = ReadHalves(x, c, kSrcA, sa);
  const Row& b = ReadHalves(x, c, Second(c), sb);
  WholeRow(x, c.d, [&](uint32_t* to) { num::Hmul2Lanes(a.lane.data(), b.lane.data(), to, ModeOf(c)); });
}

void MultiplyAdd(Exec& x, const Compiled& c) {
  ScratchRow sa, sb, sc;
  const Row& a = ReadHalves(x, c, kSrcA, sa);
  const Row& b = ReadHalves(x, c, kSrcB, sb);
  const Row& d = ReadHalves(x, c, kSrcC, sc);
  WholeRow(x, c.d, [&](uint32_t* to) {
    num::Hfma2Lanes(a.lane.data(), b.lane.data(), d.lane.data(), to, ModeOf(c));
  });
}

// XORSIGN as in FMNMX, in each half: the sign of the operands as they stand before |x|.
uint32_t WithXorSign(uint32_t result, uint32_t signs, uint32_t infinity) {
  uint32_t out = 0;
  for (int half = 0; half < 32; half += 16) {
    const uint32_t bits = result >> half & 0xffff;
    const bool is_nan = (bits & 0x7fff) > infinity;
    out |= (is_nan ? bits : (bits & 0x7fff) | (signs >> half & 0x8000)) << half;
  }
  return out;
}

void MinOrMax(Exec& x, const Compiled& c) {
  ScratchRow sa, sb;
  const Row& a = ReadHalves(x, c, kSrcA, sa);
  const Row& b = ReadHalves(x, c, Second(c), sb);
  const LaneMask min = ReadPred(x, c.p);
  num::MinMaxMode mode = {.max = false, .nan = c.mod[1] != 0, .xorsign = false, .ftz = c.mod[0] != 0};
  if (c.mod[2] == 0) {
    EachLane(x, c.d, [&](int i) {
      mode.max = (min & kLaneBit[i]) == 0;
      return num::Hmnmx2(a.lane[i], b.lane[i], mode, IsBf16(c));
    });
    return;
  }
  Compiled signed_sources = c;
  for (Src& s : signed_sources.src) s.abs = false;
  ScratchRow ssa, ssb;
  const Row& sign_a = ReadHalves(x, signed_sources, kSrcA, ssa);
  const Row& sign_b = ReadHalves(x, signed_sources, Second(c), ssb);
  EachLane(x, c.d, [&](int i) {
    mode.max = (min & kLaneBit[i]) == 0;
    const uint32_t result = num::Hmnmx2(a.lane[i], b.lane[i], mode, IsBf16(c));
    return WithXorSign(result, sign_a.lane[i] ^ sign_b.lane[i], IsBf16(c) ? 0x7f80 : 0x7c00);
  });
}

// Truth of the comparison in the low halves and in the high ones.
struct Halves {
  LaneMask low = 0, high = 0;
};
Halves Compare(Exec& x, const Compiled& c) {
  ScratchRow sa, sb;
  const Row& a = ReadHalves(x, c, kSrcA, sa);
  const Row& b = ReadHalves(x, c, Second(c), sb);
  Halves out;
  for (int i = 0; i < kWarpSize; ++i) {
    const uint32_t holds = num::Hcompare2(a.lane[i], b.lane[i], c.mod[0], c.mod[1] != 0, IsBf16(c));
    out.low |= (holds & 1) << i;
    out.high |= (holds >> 1 & 1) << i;
  }
  return out;
}

void SetValues(Exec& x, const Compiled& c) {
  const Halves holds = Compare(x, c);
  const LaneMask other = ReadPred(x, c.p);
  const LaneMask low = Combine(c.mod[2], holds.low, other), high = Combine(c.mod[2], holds.high, other);
  EachLane(x, c.d, [&](int i) {
    return num::Hset2Value((low >> i & 1) | (high >> i & 1) << 1, c.mod[3] != 0, IsBf16(c));
  });
}

// Pu = low half's result, Pv = high half's; H_AND: Pu = both hold, Pv = not both.
void SetPredicates(Exec& x, const Compiled& c) {
  const Halves holds = Compare(x, c);
  const LaneMask other = ReadPred(x, c.p), both = holds.low & holds.high;
  const bool h_and = c.mod[3] != 0;
  WritePred(x, c.pu, Combine(c.mod[2], h_and ? both : holds.low, other));
  WritePred(x, c.pv, Combine(c.mod[2], h_and ? ~both : holds.high, other));
}

}  // namespace

Handler ChooseHalf(const Instruction& inst, Compiled* c) {
  const uint32_t format = inst.Get(Field::kHalfFmt);
  if (format > sass::kHalfBf16) return nullptr;
  c->imm = inst.Get(Field::kSwzA) | inst.Get(Field::kSwzB) << 3 | inst.Get(Field::kSwzC) << 6 |
           format << kFormatShift;
  const uint32_t fmz = inst.Get(Field::kFtz) != 0 ? uint32_t{sass::kFmzFtz} : inst.Get(Field::kFmz);
  c->mod = {fmz, inst.Get(Field::kSat), inst.Get(Field::kRelu), 0};
  switch (inst.op) {
    case Op::kHadd2:
      return IsHalfToSingle(inst, *c) ? HalfToSingle : Add;
    case Op::kHmul2:
      return Multiply;
    case Op::kHfma2:
      // What a predicate operand does is not known; ptxas writes none.
      return c->p.index != 7 || c->p.inv ? nullptr : MultiplyAdd;
    case Op::kHmnmx2:
      c->mod = {inst.Get(Field::kFtz), inst.Get(Field::kNan), inst.Get(Field::kXorSign), 0};
      return MinOrMax;
    case Op::kHset2:
    case Op::kHsetp2: {
      const bool value = inst.op == Op::kHset2;
      c->mod = {inst.Get(Field::kFcmp), inst.Get(Field::kFtz), inst.Get(Field::kBop),
                inst.Get(value ? Field::kBval : Field::kHalfAnd)};
      if (c->mod[2] > sass::kBopXor) return nullptr;
      return value ? SetValues : SetPredicates;
    }
    default:
      return nullptr;
  }
}

}  // namespace sm89::emu
