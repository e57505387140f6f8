// FP32: FADD FMUL FFMA FMNMX FSET FSETP FCHK MUFU.
#include "sim/emu/alu_families.h"
#include "sim/emu/alu_lanes.h"
#include "sim/emu/alu_scalar.h"
#include "sim/num/fp32.h"
#include "sim/num/mufu.h"

namespace sm89::emu {

namespace {

using sass::Field;
using sass::Instruction;
using sass::Op;

num::FpMode ModeOf(const Compiled& c) { return num::ModeFromFields(c.mod[0], c.mod[1], c.mod[2] != 0); }

void Add(Exec& x, const Compiled& c) {
  ScratchRow sa, sb;
  const Row& a = ReadF32(x, c.src[kSrcA], sa);
  const Row& b = ReadF32(x, SecondSource(c), sb);
  WholeRow(x, c.d, [&](uint32_t* to) { num::FaddLanes(a.lane.data(), b.lane.data(), to, ModeOf(c)); });
}

void Multiply(Exec& x, const Compiled& c) {
  ScratchRow sa, sb;
  const Row& a = ReadF32(x, c.src[kSrcA], sa);
  const Row& b = ReadF32(x, c.src[kSrcB], sb);
  WholeRow(x, c.d, [&](uint32_t* to) { num::FmulLanes(a.lane.data(), b.lane.data(), to, ModeOf(c)); });
}

void MultiplyScaled(Exec& x, const Compiled& c) {
  ScratchRow sa, sb;
  const Row& a = ReadF32(x, c.src[kSrcA], sa);
  const Row& b = ReadF32(x, c.src[kSrcB], sb);
  const num::FpMode mode = ModeOf(c);
  const auto scale = static_cast<int>(c.imm);
  EachLane(x, c.d, [&](int i) { return num::Fmul(a.lane[i], b.lane[i], mode, scale); });
}

void MultiplyAdd(Exec& x, const Compiled& c) {
  ScratchRow sa, sb, sc;
  const Row& a = ReadF32(x, c.src[kSrcA], sa);
  const Row& b = ReadF32(x, c.src[kSrcB], sb);
  const Row& d = ReadF32(x, c.src[kSrcC], sc);
  WholeRow(x, c.d,
           [&](uint32_t* to) { num::FfmaLanes(a.lane.data(), b.lane.data(), d.lane.data(), to, ModeOf(c)); });
}

// XORSIGN: a number's sign is that of the product of the operands as they stand before |x| (observed on an
// H200: FMNMX.XORSIGN d, |a|, |b| of +0 and -0 is -0).
void ApplyXorSign(const Exec& x, const Compiled& c, uint32_t* to) {
  ScratchRow sa, sb;
  const uint32_t* a = ReadRaw(x, c.src[kSrcA], 0, sa).lane.data();
  const uint32_t* b = ReadRaw(x, c.src[kSrcB], 0, sb).lane.data();
  const uint32_t flip = c.src[kSrcA].neg != c.src[kSrcB].neg ? 0x80000000u : 0;
  for (int i = 0; i < kWarpSize; ++i) {
    const bool is_nan = (to[i] & 0x7fffffffu) > 0x7f800000u;
    const uint32_t sign = (a[i] ^ b[i] ^ flip) & 0x80000000u;
    to[i] = is_nan ? to[i] : (to[i] & 0x7fffffffu) | sign;
  }
}

// Pp true: the smaller.
void MinOrMax(Exec& x, const Compiled& c) {
  ScratchRow sa, sb, min_space, max_space;
  Row &min = min_space, &max = max_space;
  const Row& a = ReadF32(x, c.src[kSrcA], sa);
  const Row& b = ReadF32(x, c.src[kSrcB], sb);
  num::MinMaxMode mode = {.max = false, .nan = c.mod[1] != 0, .xorsign = false, .ftz = c.mod[0] != 0};
  const LaneMask take_min = ReadPred(x, c.p);
  if (take_min != 0) num::FmnmxLanes(a.lane.data(), b.lane.data(), min.lane.data(), mode);
  mode.max = true;
  if (take_min != kAllLanes) num::FmnmxLanes(a.lane.data(), b.lane.data(), max.lane.data(), mode);
  Row& result = take_min == 0 ? max : min;
  if (take_min != 0 && take_min != kAllLanes) {
    for (int i = 0; i < kWarpSize; ++i) {
      if ((take_min & kLaneBit[i]) == 0) result.lane[i] = max.lane[i];
    }
  }
  if (c.mod[2] != 0) ApplyXorSign(x, c, result.lane.data());
  WriteRow(x, c.d, result);
}

LaneMask Compare(Exec& x, const Compiled& c) {
  ScratchRow sa, sb;
  const Row& a = ReadF32(x, c.src[kSrcA], sa);
  const Row& b = ReadF32(x, c.src[kSrcB], sb);
  return num::FsetpLanes(a.lane.data(), b.lane.data(), c.mod[0], c.mod[1] != 0);
}

void SetPredicate(Exec& x, const Compiled& c) {
  const LaneMask holds = Compare(x, c), other = ReadPred(x, c.p);
  WritePred(x, c.pu, Combine(c.mod[2], holds, other));
  WritePred(x, c.pv, Combine(c.mod[2], ~holds, other));
}

// FSET.BF: 1.0 or 0.
void SetFloat(Exec& x, const Compiled& c) {
  const LaneMask result = Combine(c.mod[2], Compare(x, c), ReadPred(x, c.p));
  EachLane(x, c.d, [=](int i) { return LaneSelect(result, i) & 0x3f800000u; });
}

void CheckDivide(Exec& x, const Compiled& c) {
  ScratchRow sa, sb;
  const Row& a = ReadF32(x, c.src[kSrcA], sa);
  const Row& b = ReadF32(x, c.src[kSrcB], sb);
  WritePred(x, c.pu, GatherLanes([&](int i) { return num::FchkDivide(a.lane[i], b.lane[i]); }));
}

void Multifunction(Exec& x, const Compiled& c) {
  ScratchRow sb;
  const Row& b = ReadF32(x, c.src[kSrcB], sb);
  WholeRow(x, c.d,
           [&](uint32_t* to) { num::MufuLanes(static_cast<num::MufuOp>(c.mod[0]), b.lane.data(), to); });
}

// One half of a register in, the low half out, zeros above.
void MultifunctionHalf(Exec& x, const Compiled& c) {
  ScratchRow sb;
  const Row& b = ReadRaw(x, c.src[kSrcB], 0, sb);
  const auto op = static_cast<num::MufuOp>(c.mod[0]);
  const uint32_t shift = c.mod[1] != 0 ? 16 : 0;
  const uint32_t clear = c.src[kSrcB].abs ? 0x7fff : 0xffff, flip = c.src[kSrcB].neg ? 0x8000 : 0;
  EachLane(x, c.d, [&](int i) -> uint32_t {
    return num::MufuF16(op, static_cast<uint16_t>(((b.lane[i] >> shift) & clear) ^ flip));
  });
}

Handler ChooseMultifunction(const Instruction& inst, Compiled* c) {
  c->mod = {inst.Get(Field::kMufuOp), inst.Get(Field::kHalfSel), 0, 0};
  if (c->mod[0] > sass::kMufuTanh) return nullptr;
  return inst.Get(Field::kHalfWidth) != 0 ? MultifunctionHalf : Multifunction;
}

}  // namespace

Handler ChooseFloat(const Instruction& inst, Compiled* c) {
  // FADD has a plain FTZ bit where the others have the FMZ field.
  const uint32_t fmz = inst.Get(Field::kFtz) != 0 ? uint32_t{sass::kFmzFtz} : inst.Get(Field::kFmz);
  c->mod = {inst.Get(Field::kRound), fmz, inst.Get(Field::kSat), 0};
  switch (inst.op) {
    case Op::kFadd:
      return Add;
    case Op::kFmul:
      c->imm = static_cast<int>(inst.Get(Field::kMulScale, 4)) - 4;
      return c->imm == 0 ? Multiply : c->imm == -4 ? nullptr : MultiplyScaled;
    case Op::kFfma:
      return MultiplyAdd;
    case Op::kFmnmx:
      c->mod = {inst.Get(Field::kFtz), inst.Get(Field::kNan), inst.Get(Field::kXorSign), 0};
      return MinOrMax;
    case Op::kFset:
    case Op::kFsetp:
      c->mod = {inst.Get(Field::kFcmp), inst.Get(Field::kFtz), inst.Get(Field::kBop), 0};
      if (c->mod[2] > sass::kBopXor) return nullptr;
      return inst.op == Op::kFset ? SetFloat : SetPredicate;
    case Op::kFchk:
      return CheckDivide;
    case Op::kMufu:
      return ChooseMultifunction(inst, c);
    default:
      return nullptr;
  }
}

}  // namespace sm89::emu
