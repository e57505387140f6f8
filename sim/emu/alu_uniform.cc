// The uniform datapath: one value a warp.
#include <bit>

#include "sim/emu/alu_families.h"
#include "sim/emu/alu_scalar.h"
#include "sim/sass/fields.h"

namespace sm89::emu {

namespace {

using sass::Field;
using sass::Instruction;
using sass::Op;
using sass::Slot;

// Part of a source as it stands, without neg or inv.
uint32_t RawOf(const Exec& x, const Src& s, uint32_t part = 0) {
  if (s.kind == Src::Kind::kUniform) return x.w->ur[s.ureg + part];
  return s.kind == Src::Kind::kFixed ? s.fixed[part].lane[0] : 0;
}
uint32_t ValueOf(const Exec& x, const Src& s) {
  const uint32_t raw = RawOf(x, s);
  if (s.neg) return 0u - raw;
  return s.inv ? ~raw : raw;
}
uint32_t FlippedOf(const Exec& x, const Src& s) { return RawOf(x, s) ^ (s.neg || s.inv ? ~0u : 0u); }
uint32_t NegCount(const Compiled& c) {
  uint32_t count = 0;
  for (const Src& s : c.src) count += s.neg ? 1 : 0;
  return count;
}
// ReadUPred of predicates that a form may lack: there they read as false.
uint32_t CarryIn(const Exec& x, const Compiled& c, const PredSrc& p) {
  return c.mod[0] != 0 && ReadUPred(x, p) ? 1 : 0;
}

void Add3(Exec& x, const Compiled& c) {
  uint64_t sum = NegCount(c) + CarryIn(x, c, c.p) + CarryIn(x, c, c.q);
  for (int k = kSrcA; k <= kSrcC; ++k) sum += FlippedOf(x, c.src[k]);
  WriteUr(x, c.d, static_cast<uint32_t>(sum));
  WriteUPred(x, c.pu, sum >> 32 >= 1);
  WriteUPred(x, c.pv, sum >> 32 >= 2);
}

void Lea(Exec& x, const Compiled& c) {
  const uint32_t a = RawOf(x, c.src[kSrcA]), s = c.mod[1];
  const bool hi = c.mod[2] != 0, sx32 = c.mod[3] != 0;
  const uint32_t top = sx32 ? static_cast<uint32_t>(static_cast<int32_t>(a) >> 31) : RawOf(x, c.src[kSrcC]);
  const uint64_t shifted = (a | static_cast<uint64_t>(top) << 32) << s;
  const bool flip = c.src[kSrcA].neg || c.src[kSrcA].inv;
  uint64_t sum = static_cast<uint32_t>(hi ? shifted >> 32 : shifted) ^ (flip ? ~0u : 0u);
  sum += uint64_t{FlippedOf(x, c.src[kSrcB])} + NegCount(c) + CarryIn(x, c, c.p);
  WriteUr(x, c.d, static_cast<uint32_t>(sum));
  WriteUPred(x, c.pu, sum >> 32 != 0);
}

void MadLow(Exec& x, const Compiled& c) {
  const uint32_t sum = RawOf(x, c.src[kSrcA]) * RawOf(x, c.src[kSrcB]) + ValueOf(x, c.src[kSrcC]);
  WriteUr(x, c.d, sum + CarryIn(x, c, c.p));
}

void Mad64(Exec& x, const Compiled& c) {
  const uint32_t a = RawOf(x, c.src[kSrcA]), b = RawOf(x, c.src[kSrcB]);
  const uint64_t product =
      c.mod[1] != 0
          ? static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(a)) * static_cast<int32_t>(b))
          : uint64_t{a} * b;
  const Src& addend = c.src[kSrcC];
  const uint64_t flip = addend.neg || addend.inv ? ~uint64_t{0} : 0;
  const uint64_t sum = product + ((RawOf(x, addend) | uint64_t{RawOf(x, addend, 1)} << 32) ^ flip);
  const uint64_t total = sum + (addend.neg ? 1 : 0) + CarryIn(x, c, c.p);
  if (c.mod[2] == sass::kWideWide) WriteUr(x, c.d, static_cast<uint32_t>(total));
  WriteUr(x, c.d + (c.mod[2] == sass::kWideWide ? 1 : 0), static_cast<uint32_t>(total >> 32));
  WriteUPred(x, c.pu, sum < product || total < sum);
}

void SetPredicate(Exec& x, const Compiled& c) {
  const uint32_t a = RawOf(x, c.src[kSrcA]), b = RawOf(x, c.src[kSrcB]);
  bool holds = CompareInt(c.mod[1], c.mod[2] != 0, a, b);
  if (c.mod[0] != 0 && a == b) holds = ReadUPred(x, c.r);
  const bool other = ReadUPred(x, c.p);
  WriteUPred(x, c.pu, Combine(c.mod[3], holds, other));
  WriteUPred(x, c.pv, Combine(c.mod[3], !holds, other));
}

void Logic(Exec& x, const Compiled& c) {
  const uint32_t out = Lut3(c.mod[1], RawOf(x, c.src[kSrcA]), RawOf(x, c.src[kSrcB]), RawOf(x, c.src[kSrcC]));
  const bool other = ReadUPred(x, c.p);
  WriteUr(x, c.d, out);
  WriteUPred(x, c.pu, c.mod[2] != 0 ? out != 0 && other : out != 0 || other);
}

void LogicPredicates(Exec& x, const Compiled& c) {
  const auto bit = [&](const PredSrc& p) { return ReadUPred(x, p) ? ~0u : 0u; };
  const uint32_t p = bit(c.p), q = bit(c.q), r = bit(c.r);
  WriteUPred(x, c.pu, Lut3(c.mod[1], p, q, r) != 0);
  WriteUPred(x, c.pv, Lut3(c.mod[2], p, q, r) != 0);
}

void Move(Exec& x, const Compiled& c) { WriteUr(x, c.d, RawOf(x, c.src[kSrcB])); }
void Select(Exec& x, const Compiled& c) {
  WriteUr(x, c.d, ValueOf(x, c.src[ReadUPred(x, c.p) ? kSrcA : kSrcB]));
}

void Shift(Exec& x, const Compiled& c) {
  const ShiftMode mode = {.right = c.mod[0] != 0,
                          .wrap = c.mod[1] != 0,
                          .hi = c.mod[2] != 0,
                          .wide = (c.mod[3] & 1) != 0,
                          .is_signed = (c.mod[3] & 2) != 0};
  WriteUr(x, c.d, FunnelShift(mode, RawOf(x, c.src[kSrcA]), RawOf(x, c.src[kSrcB]), RawOf(x, c.src[kSrcC])));
}

void PermuteBytes(Exec& x, const Compiled& c) {
  const uint32_t selector = PermuteSelector(c.mod[0], RawOf(x, c.src[kSrcB]));
  WriteUr(x, c.d, Permute(RawOf(x, c.src[kSrcA]), selector, RawOf(x, c.src[kSrcC])));
}

void CountOnes(Exec& x, const Compiled& c) {
  WriteUr(x, c.d, static_cast<uint32_t>(std::popcount(ValueOf(x, c.src[kSrcB]))));
}
void FindLeadingOne(Exec& x, const Compiled& c) {
  WriteUr(x, c.d, FindLeading(ValueOf(x, c.src[kSrcB]), c.mod[0] != 0, c.mod[1] != 0));
}
void Reverse(Exec& x, const Compiled& c) { WriteUr(x, c.d, ReverseBits(ValueOf(x, c.src[kSrcB]))); }
void MaskOfBits(Exec& x, const Compiled& c) {
  WriteUr(x, c.d, BitMask(RawOf(x, c.src[kSrcA]), RawOf(x, c.src[kSrcB]), c.mod[0] != 0));
}
void SignExtend(Exec& x, const Compiled& c) {
  WriteUr(x, c.d, Extend(RawOf(x, c.src[kSrcA]), RawOf(x, c.src[kSrcB]), c.mod[0] != 0, c.mod[1] != 0));
}

uint32_t Immediate(const Instruction& inst, Slot slot) {
  const sass::Operand* operand = inst.Find(slot);
  return operand == nullptr ? 0 : static_cast<uint32_t>(operand->value);
}

Handler ChooseArithmetic(const Instruction& inst, Compiled* c) {
  const uint32_t is_signed = inst.Get(Field::kSigned);
  c->mod[0] = inst.Get(Field::kX) | inst.Get(Field::kEx);
  switch (inst.op) {
    case Op::kUiadd3:
      return Add3;
    case Op::kUlea:
      c->mod = {c->mod[0], Immediate(inst, Slot::kScale) & 31, inst.Get(Field::kHi), inst.Get(Field::kSx32)};
      return Lea;
    case Op::kUimad:
      c->mod = {c->mod[0], is_signed, inst.Get(Field::kWide), 0};
      return c->mod[2] == sass::kWideLo ? MadLow : Mad64;
    case Op::kUisetp:
      c->mod = {c->mod[0], inst.Get(Field::kIcmp), is_signed, inst.Get(Field::kBop)};
      return c->mod[3] > sass::kBopXor ? nullptr : SetPredicate;
    default:
      return nullptr;
  }
}

Handler ChooseBitwise(const Instruction& inst, Compiled* c) {
  const uint32_t is_signed = inst.Get(Field::kSigned), wrap = inst.Get(Field::kWrap);
  switch (inst.op) {
    case Op::kUlop3:
      c->mod = {0, Immediate(inst, Slot::kLut) & 0xff, inst.Get(Field::kLopPop), 0};
      return Logic;
    case Op::kUplop3:
      c->mod = {0, Immediate(inst, Slot::kLut) & 0xff, Immediate(inst, Slot::kLut2) & 0xff, 0};
      return LogicPredicates;
    case Op::kUshf: {
      const uint32_t format = inst.Get(Field::kShfFmt);
      const bool wide = format == sass::kShfS64 || format == sass::kShfU64;
      const bool sign = format == sass::kShfS64 || format == sass::kShfS32;
      c->mod = {inst.Get(Field::kRight), wrap, inst.Get(Field::kHi), (wide ? 1u : 0u) + (sign ? 2u : 0u)};
      return Shift;
    }
    case Op::kUprmt:
      c->mod[0] = inst.Get(Field::kPrmtMode);
      return c->mod[0] > sass::kPrmtRc16 ? nullptr : PermuteBytes;
    case Op::kUpopc:
      return CountOnes;
    case Op::kUflo:
      c->mod = {is_signed, inst.Get(Field::kFlo), 0, 0};
      return c->pu == 7 ? FindLeadingOne : nullptr;
    case Op::kUbrev:
      return Reverse;
    case Op::kUbmsk:
      c->mod[0] = wrap;
      return MaskOfBits;
    case Op::kUsgxt:
      c->mod = {wrap, is_signed, 0, 0};
      return SignExtend;
    default:
      return nullptr;
  }
}

}  // namespace

Handler ChooseUniform(const Instruction& inst, Compiled* c) {
  // Per-thread operands of a uniform instruction are not understood.
  for (const Src& s : c->src) {
    if (s.kind == Src::Kind::kRow) return nullptr;
  }
  switch (inst.op) {
    case Op::kUmov:
      return Move;
    case Op::kUsel:
      return Select;
    case Op::kUiadd3:
    case Op::kUlea:
    case Op::kUimad:
    case Op::kUisetp:
      return ChooseArithmetic(inst, c);
    default:
      return ChooseBitwise(inst, c);
  }
}

}  // namespace sm89::emu
