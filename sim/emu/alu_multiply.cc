// IMAD, IDP, VABSDIFF, VABSDIFF4.
#include "sim/emu/alu_families.h"
#include "sim/emu/alu_lanes.h"
#include "sim/sass/fields.h"

namespace sm89::emu {

namespace {

using sass::Field;
using sass::Instruction;
using sass::Op;

// a*b + c, low 32 bits; c negated, or inverted with a carry in (.X).
void MadLow(Exec& x, const Compiled& c) {
  ScratchRow sa, sb, sc;
  const uint32_t* a = ReadRaw(x, c.src[kSrcA], 0, sa).lane.data();
  const uint32_t* b = ReadRaw(x, c.src[kSrcB], 0, sb).lane.data();
  const uint32_t* d = ReadRaw(x, c.src[kSrcC], 0, sc).lane.data();
  const uint32_t flip = c.mod[0], extra = c.mod[1];
  EachLane(x, c.d, [=](int i) { return a[i] * b[i] + (d[i] ^ flip) + extra; });
}

void MadLowX(Exec& x, const Compiled& c) {
  ScratchRow sa, sb, sc;
  const uint32_t* a = ReadRaw(x, c.src[kSrcA], 0, sa).lane.data();
  const uint32_t* b = ReadRaw(x, c.src[kSrcB], 0, sb).lane.data();
  const uint32_t* d = ReadRaw(x, c.src[kSrcC], 0, sc).lane.data();
  const uint32_t flip = c.mod[0], extra = c.mod[1];
  const LaneMask in = ReadPred(x, c.p);
  EachLane(x, c.d, [=](int i) { return a[i] * b[i] + (d[i] ^ flip) + extra - LaneSelect(in, i); });
}

// a + c and a * 2^s + c: how ptxas spells moves, additions and shifts (IMAD.MOV, .IADD, .SHL).
void MadByOne(Exec& x, const Compiled& c) {
  ScratchRow sa, sc;
  const uint32_t* a = ReadRaw(x, c.src[kSrcA], 0, sa).lane.data();
  const uint32_t* d = ReadRaw(x, c.src[kSrcC], 0, sc).lane.data();
  const uint32_t flip = c.mod[0], extra = c.mod[1], s = c.mod[2];
  EachLane(x, c.d, [=](int i) { return (a[i] << s) + (d[i] ^ flip) + extra; });
}

void MadMove(Exec& x, const Compiled& c) {
  ScratchRow sc;
  const uint32_t* d = ReadRaw(x, c.src[kSrcC], 0, sc).lane.data();
  const uint32_t flip = c.mod[0], extra = c.mod[1];
  EachLane(x, c.d, [=](int i) { return (d[i] ^ flip) + extra; });
}

// What a signed product's upper word lacks of the unsigned one.
inline uint32_t SignedCorrection(uint32_t a, uint32_t b) {
  const auto sa = static_cast<uint32_t>(static_cast<int32_t>(a) >> 31);
  const auto sb = static_cast<uint32_t>(static_cast<int32_t>(b) >> 31);
  return (sa & b) + (sb & a);
}

// The 64-bit sum a*b + c of WIDE (both words) and HI (the upper one).
template <bool kSigned, bool kWide>
void Mad64(Exec& x, const Compiled& c) {
  ScratchRow sa, sb, sc, sd;
  ScratchRow low_space, high_space;
  Row &low = low_space, &high = high_space;
  const uint32_t* a = ReadRaw(x, c.src[kSrcA], 0, sa).lane.data();
  const uint32_t* b = ReadRaw(x, c.src[kSrcB], 0, sb).lane.data();
  const uint32_t* c0 = ReadRaw(x, c.src[kSrcC], 0, sc).lane.data();
  const uint32_t* c1 = ReadRaw(x, c.src[kSrcC], 1, sd).lane.data();
  const bool all = x.lanes == kAllLanes;
  Row* const rows = x.w->rows + c.d;
  uint32_t* const to0 = kWide && all ? rows[0].lane.data() : low.lane.data();
  uint32_t* const to1 = all ? rows[kWide ? 1 : 0].lane.data() : high.lane.data();
  SM89_LANE_LOOP
  for (int i = 0; i < kWarpSize; ++i) {
    const uint32_t av = a[i], bv = b[i], c0v = c0[i], c1v = c1[i];
    const uint64_t product = static_cast<uint64_t>(av) * bv;
    const uint32_t p0 = av * bv;
    uint32_t p1 = static_cast<uint32_t>(product >> 32);
    if constexpr (kSigned) p1 -= SignedCorrection(av, bv);
    const uint32_t sum = p0 + c0v;
    to0[i] = sum;
    to1[i] = p1 + c1v + (sum < p0 ? 1u : 0u);
  }
  if (all) return;
  if constexpr (kWide) WriteRow(x, c.d, low);
  WriteRow(x, c.d + (kWide ? 1 : 0), high);
}

// The same with a negated or inverted addend, a carry in, a carry out (bit 64 of the unsigned sum).
template <bool kSigned, bool kWide>
void Mad64Carry(Exec& x, const Compiled& c) {
  ScratchRow sa, sb, sc, sd;
  ScratchRow low_space, high_space;
  Row &low = low_space, &high = high_space;
  const uint32_t* a = ReadRaw(x, c.src[kSrcA], 0, sa).lane.data();
  const uint32_t* b = ReadRaw(x, c.src[kSrcB], 0, sb).lane.data();
  const uint32_t* c0 = ReadRaw(x, c.src[kSrcC], 0, sc).lane.data();
  const uint32_t* c1 = ReadRaw(x, c.src[kSrcC], 1, sd).lane.data();
  const uint32_t flip = c.mod[0], extra = c.mod[1];
  const LaneMask in = c.mod[2] != 0 ? ReadPred(x, c.p) : 0;
  LaneMask out = 0;
  for (int i = 0; i < kWarpSize; ++i) {
    const uint32_t av = a[i], bv = b[i];
    const uint32_t p0 = av * bv;
    uint32_t p1 = static_cast<uint32_t>(static_cast<uint64_t>(av) * bv >> 32);
    if constexpr (kSigned) p1 -= SignedCorrection(av, bv);
    // Each of the four sums may carry.
    const uint32_t sum0 = p0 + (c0[i] ^ flip);
    const uint32_t total0 = sum0 + extra - LaneSelect(in, i);
    const uint32_t carry0 = (sum0 < p0 ? 1u : 0u) + (total0 < sum0 ? 1u : 0u);
    const uint32_t sum1 = p1 + (c1[i] ^ flip);
    const uint32_t total1 = sum1 + carry0;
    low.lane[i] = total0;
    high.lane[i] = total1;
    out |= (0u - ((sum1 < p1 ? 1u : 0u) | (total1 < sum1 ? 1u : 0u))) & kLaneBit[i];
  }
  if constexpr (kWide) WriteRow(x, c.d, low);
  WriteRow(x, c.d + (kWide ? 1 : 0), high);
  WritePred(x, c.pu, out);
}

Handler ChooseMad(const Instruction& inst, Compiled* c) {
  const Src& addend = c->src[kSrcC];
  const bool carry_in = inst.Get(Field::kX) != 0;
  const bool is_signed = inst.Get(Field::kSigned) != 0;
  c->mod = {addend.neg || addend.inv ? ~0u : 0u, addend.neg ? 1u : 0u, carry_in ? 1u : 0u, 0};
  const uint32_t wide = inst.Get(Field::kWide);
  const sass::Operand* addend_operand = inst.Find(sass::Slot::kC);
  if (wide != sass::kWideLo) {
    // How an immediate becomes a 64-bit addend is not known; ptxas writes none.
    if (addend_operand != nullptr && addend_operand->kind == sass::OperandKind::kImm) return nullptr;
    const bool plain = c->mod == std::array<uint32_t, 4>{} && c->pu == 7;
    if (wide == sass::kWideWide) {
      if (plain) return is_signed ? Mad64<true, true> : Mad64<false, true>;
      return is_signed ? Mad64Carry<true, true> : Mad64Carry<false, true>;
    }
    if (plain) return is_signed ? Mad64<true, false> : Mad64<false, false>;
    return is_signed ? Mad64Carry<true, false> : Mad64Carry<false, false>;
  }
  if (carry_in) return MadLowX;
  const sass::Operand* a = inst.Find(sass::Slot::kA);
  if (a != nullptr && a->IsZeroReg()) return MadMove;
  const Src& factor = c->src[kSrcB];
  if (factor.kind == Src::Kind::kFixed) {
    const uint32_t value = factor.fixed->lane[0];
    if (value != 0 && (value & (value - 1)) == 0) {
      c->mod[2] = static_cast<uint32_t>(__builtin_ctz(value));
      return MadByOne;
    }
  }
  return MadLow;
}

template <typename T>
constexpr int32_t Widen(uint32_t value, bool is_signed) {
  return is_signed ? static_cast<int32_t>(static_cast<std::make_signed_t<T>>(value))
                   : static_cast<int32_t>(static_cast<T>(value));
}

template <bool kSigned>
inline uint32_t ByteOf(uint32_t value, int k) {
  if constexpr (kSigned) return static_cast<uint32_t>(static_cast<int32_t>(value << (24 - 8 * k)) >> 24);
  return value >> (8 * k) & 0xff;
}

template <bool kSigned>
inline uint32_t WordOf(uint32_t value, int k) {
  if constexpr (kSigned) return static_cast<uint32_t>(static_cast<int32_t>(value << (16 - 16 * k)) >> 16);
  return value >> (16 * k) & 0xffff;
}

// Dot product of four bytes (4A), or of two 16-bit words with two bytes (2A: the lower or the upper ones).
template <bool kSignedA, bool kSignedB, bool kFour>
void DotProduct(Exec& x, const Compiled& c) {
  ScratchRow sa, sb, sc;
  const uint32_t* a = ReadRaw(x, c.src[kSrcA], 0, sa).lane.data();
  const uint32_t* b = ReadRaw(x, c.src[kSrcB], 0, sb).lane.data();
  const uint32_t* d = ReadInt(x, c.src[kSrcC], sc).lane.data();
  const uint32_t skip = c.mod[0];  // bits of b below the bytes that are used
  EachLane(x, c.d, [=](int i) {
    uint32_t sum = d[i];
    if constexpr (kFour) {
      for (int k = 0; k < 4; ++k) sum += ByteOf<kSignedA>(a[i], k) * ByteOf<kSignedB>(b[i], k);
    } else {
      for (int k = 0; k < 2; ++k) sum += WordOf<kSignedA>(a[i], k) * ByteOf<kSignedB>(b[i] >> skip, k);
    }
    return sum;
  });
}

template <bool kFour>
Handler DotProductOf(bool signed_a, bool signed_b) {
  if (signed_a) return signed_b ? DotProduct<true, true, kFour> : DotProduct<true, false, kFour>;
  return signed_b ? DotProduct<false, true, kFour> : DotProduct<false, false, kFour>;
}

Handler ChooseDot(const Instruction& inst, Compiled* c) {
  const uint32_t mode = inst.Get(Field::kDpMode);  // 0 4A, 1 2A.LO, 3 2A.HI
  const bool signed_a = inst.Get(Field::kSignedA) != 0, signed_b = inst.Get(Field::kSignedB) != 0;
  if (mode == 2) return nullptr;
  c->mod[0] = mode == 3 ? 16 : 0;
  return mode == 0 ? DotProductOf<true>(signed_a, signed_b) : DotProductOf<false>(signed_a, signed_b);
}

template <bool kSigned>
void AbsDiff(Exec& x, const Compiled& c) {
  ScratchRow sa, sb, sc;
  const Row& a = ReadRaw(x, c.src[kSrcA], 0, sa);
  const Row& b = ReadRaw(x, c.src[kSrcB], 0, sb);
  const Row& d = ReadRaw(x, c.src[kSrcC], 0, sc);
  EachLane(x, c.d, [&](int i) {
    const uint32_t av = a.lane[i], bv = b.lane[i];
    const bool less = kSigned ? static_cast<int32_t>(av) < static_cast<int32_t>(bv) : av < bv;
    return (less ? bv - av : av - bv) + d.lane[i];
  });
}

// Four bytes: their differences' sizes, or (ACC) the sum of these and c.
void AbsDiff4(Exec& x, const Compiled& c) {
  ScratchRow sa, sb, sc;
  const Row& a = ReadRaw(x, c.src[kSrcA], 0, sa);
  const Row& b = ReadRaw(x, c.src[kSrcB], 0, sb);
  const Row& d = ReadRaw(x, c.src[kSrcC], 0, sc);
  const bool is_signed = c.mod[0] != 0, accumulate = c.mod[1] != 0;
  EachLane(x, c.d, [&](int i) {
    uint32_t out = accumulate ? d.lane[i] : 0;
    for (int shift = 0; shift < 32; shift += 8) {
      const int32_t diff =
          Widen<uint8_t>(a.lane[i] >> shift, is_signed) - Widen<uint8_t>(b.lane[i] >> shift, is_signed);
      const auto size = static_cast<uint32_t>(diff < 0 ? -diff : diff);
      out += accumulate ? size : size << shift;
    }
    return out;
  });
}

}  // namespace

Handler ChooseMultiply(const Instruction& inst, Compiled* c) {
  switch (inst.op) {
    case Op::kImad:
      return ChooseMad(inst, c);
    case Op::kIdp:
      return ChooseDot(inst, c);
    case Op::kVabsdiff:
      if (c->pu != 7) return nullptr;
      return inst.Get(Field::kSigned) != 0 ? AbsDiff<true> : AbsDiff<false>;
    case Op::kVabsdiff4: {
      // Without ACC all four bytes are written, so that the third operand has no part in the result.
      c->mod = {inst.Get(Field::kSigned), inst.Get(Field::kVabsRed), 0, 0};
      return c->pu == 7 ? AbsDiff4 : nullptr;
    }
    default:
      return nullptr;
  }
}

}  // namespace sm89::emu
