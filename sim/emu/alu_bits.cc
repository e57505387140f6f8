// BREV, POPC, FLO, BMSK, SGXT.
#include <bit>

#include "sim/emu/alu_families.h"
#include "sim/emu/alu_lanes.h"
#include "sim/emu/alu_scalar.h"

namespace sm89::emu {

namespace {

using sass::Field;
using sass::Instruction;
using sass::Op;

void Reverse(Exec& x, const Compiled& c) {
  ScratchRow sb;
  const uint32_t* b = ReadInt(x, c.src[kSrcB], sb).lane.data();
  EachLane(x, c.d, [=](int i) { return ReverseBits(b[i]); });
}

void CountOnes(Exec& x, const Compiled& c) {
  ScratchRow sb;
  const uint32_t* b = ReadInt(x, c.src[kSrcB], sb).lane.data();
  EachLane(x, c.d, [=](int i) {
    uint32_t v = b[i];  // counted in fields of 2, 4, 8 bits: vectorises where a library call does not
    v -= v >> 1 & 0x55555555u;
    v = (v & 0x33333333u) + (v >> 2 & 0x33333333u);
    v = (v + (v >> 4)) & 0x0f0f0f0fu;
    v += v >> 8;
    return (v + (v >> 16)) & 0x3fu;
  });
}

void FindLeadingOne(Exec& x, const Compiled& c) {
  ScratchRow sb;
  const Row& b = ReadInt(x, c.src[kSrcB], sb);
  const bool is_signed = c.mod[0] != 0, shift_amount = c.mod[1] != 0;
  EachLane(x, c.d, [&](int i) { return FindLeading(b.lane[i], is_signed, shift_amount); });
}

void MaskOfBits(Exec& x, const Compiled& c) {
  ScratchRow sa, sb;
  const Row& a = ReadRaw(x, c.src[kSrcA], 0, sa);
  const Row& b = ReadRaw(x, c.src[kSrcB], 0, sb);
  const bool wrap = c.mod[0] != 0;
  EachLane(x, c.d, [&](int i) { return BitMask(a.lane[i], b.lane[i], wrap); });
}

void SignExtend(Exec& x, const Compiled& c) {
  ScratchRow sa, sb;
  const Row& a = ReadRaw(x, c.src[kSrcA], 0, sa);
  const Row& b = ReadRaw(x, c.src[kSrcB], 0, sb);
  const bool wrap = c.mod[0] != 0, is_signed = c.mod[1] != 0;
  EachLane(x, c.d, [&](int i) { return Extend(a.lane[i], b.lane[i], wrap, is_signed); });
}

// A width that is the same in all lanes: two shifts.
template <bool kSigned>
void SignExtendFixed(Exec& x, const Compiled& c) {
  ScratchRow sa;
  const uint32_t* a = ReadRaw(x, c.src[kSrcA], 0, sa).lane.data();
  const uint32_t s = c.mod[2];
  EachLane(x, c.d, [=](int i) {
    const uint32_t top = a[i] << s;
    return kSigned ? static_cast<uint32_t>(static_cast<int32_t>(top) >> s) : top >> s;
  });
}

Handler ChooseSignExtend(const Instruction& inst, Compiled* c) {
  const bool is_signed = inst.Get(Field::kSigned) != 0;
  c->mod = {inst.Get(Field::kWrap), is_signed, 0, 0};
  if (c->src[kSrcB].kind == Src::Kind::kFixed) {
    const uint32_t width = c->mod[0] != 0 ? c->src[kSrcB].fixed->lane[0] & 31 : c->src[kSrcB].fixed->lane[0];
    if (width >= 1 && width <= 32) {
      c->mod[2] = 32 - width;
      return is_signed ? SignExtendFixed<true> : SignExtendFixed<false>;
    }
  }
  return SignExtend;
}

}  // namespace

Handler ChooseBits(const Instruction& inst, Compiled* c) {
  switch (inst.op) {
    case Op::kBrev:
      return Reverse;
    case Op::kPopc:
      return CountOnes;
    case Op::kFlo:
      c->mod = {inst.Get(Field::kSigned), inst.Get(Field::kFlo), 0, 0};
      return c->pu == 7 ? FindLeadingOne : nullptr;
    case Op::kBmsk:
      c->mod[0] = inst.Get(Field::kWrap);
      return MaskOfBits;
    case Op::kSgxt:
      return ChooseSignExtend(inst, c);
    default:
      return nullptr;
  }
}

}  // namespace sm89::emu
