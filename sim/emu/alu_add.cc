// IADD3, LEA, IABS, VIADD.
#include "sim/emu/alu_families.h"
#include "sim/emu/alu_lanes.h"
#include "sim/sass/fields.h"

namespace sm89::emu {

namespace {

using sass::Field;
using sass::Instruction;
using sass::Op;

// -x is ~x + 1 with the 1 taken as one more addend, so that carries come out as the adder makes them.
uint32_t Flip(const Src& s) { return s.neg || s.inv ? ~0u : 0u; }
uint32_t NegCount(const Compiled& c) {
  uint32_t count = 0;
  for (const Src& s : c.src) count += s.neg ? 1 : 0;
  return count;
}

// No carry in or out.
void Add3(Exec& x, const Compiled& c) {
  ScratchRow sa, sb, sc;
  const uint32_t* a = ReadRaw(x, c.src[kSrcA], 0, sa).lane.data();
  const uint32_t* b = ReadRaw(x, c.src[kSrcB], 0, sb).lane.data();
  const uint32_t* d = ReadRaw(x, c.src[kSrcC], 0, sc).lane.data();
  const uint32_t fa = c.mod[0], fb = c.mod[1], fc = c.mod[2], extra = c.mod[3];
  EachLane(x, c.d, [=](int i) { return (a[i] ^ fa) + (b[i] ^ fb) + (d[i] ^ fc) + extra; });
}

// Three positive addends of which one is RZ or an immediate: most additions.
void Add3Plain(Exec& x, const Compiled& c) {
  ScratchRow sa, sb, sc;
  const uint32_t* a = ReadRaw(x, c.src[kSrcA], 0, sa).lane.data();
  const uint32_t* b = ReadRaw(x, c.src[kSrcB], 0, sb).lane.data();
  const uint32_t* d = ReadRaw(x, c.src[kSrcC], 0, sc).lane.data();
  EachLane(x, c.d, [=](int i) { return a[i] + b[i] + d[i]; });
}

// Carries in (.X) and out. Pu: the 34-bit sum is at least 2^32; Pv: at least 2^33.
void Add3Carry(Exec& x, const Compiled& c) {
  ScratchRow sa, sb, sc;
  ScratchRow sum_space, carries_space;
  Row &sum = sum_space, &carries = carries_space;
  const uint32_t* a = ReadRaw(x, c.src[kSrcA], 0, sa).lane.data();
  const uint32_t* b = ReadRaw(x, c.src[kSrcB], 0, sb).lane.data();
  const uint32_t* d = ReadRaw(x, c.src[kSrcC], 0, sc).lane.data();
  const uint32_t fa = c.mod[0], fb = c.mod[1], fc = c.mod[2], extra = c.mod[3];
  const bool with_carry_in = c.imm != 0;
  const LaneMask in0 = with_carry_in ? ReadPred(x, c.p) : 0;
  const LaneMask in1 = with_carry_in ? ReadPred(x, c.q) : 0;
  for (int i = 0; i < kWarpSize; ++i) {
    const uint32_t av = a[i] ^ fa;
    const uint32_t ab = av + (b[i] ^ fb);
    const uint32_t abc = ab + (d[i] ^ fc);
    const uint32_t in = extra - LaneSelect(in0, i) - LaneSelect(in1, i);
    const uint32_t total = abc + in;
    sum.lane[i] = total;
    carries.lane[i] = (ab < av ? 1u : 0u) + (abc < ab ? 1u : 0u) + (total < abc ? 1u : 0u);
  }
  WriteRow(x, c.d, sum);
  if (c.pu != 7) WritePred(x, c.pu, GatherLanes([&](int i) { return carries.lane[i] != 0; }));
  if (c.pv != 7) WritePred(x, c.pv, GatherLanes([&](int i) { return (carries.lane[i] & 2) != 0; }));
}

Handler ChooseAdd3(const Instruction& inst, Compiled* c) {
  c->mod = {Flip(c->src[kSrcA]), Flip(c->src[kSrcB]), Flip(c->src[kSrcC]), NegCount(*c)};
  c->imm = inst.Get(Field::kX);
  if (c->imm != 0 || c->pu != 7 || c->pv != 7) return Add3Carry;
  return c->mod == std::array<uint32_t, 4>{} ? Add3Plain : Add3;
}

// (a << s) + b, the shifted value or b negated or (.X) inverted. HI: the bits that a 64-bit shift of c:a
// moves into the upper word; SX32: c is the sign of a.
template <bool kHigh, bool kSx32>
void Lea(Exec& x, const Compiled& c) {
  ScratchRow sa, sb, sc;
  const uint32_t* a = ReadRaw(x, c.src[kSrcA], 0, sa).lane.data();
  const uint32_t* b = ReadRaw(x, c.src[kSrcB], 0, sb).lane.data();
  const uint32_t* high = kHigh && !kSx32 ? ReadRaw(x, c.src[kSrcC], 0, sc).lane.data() : a;
  const uint32_t fa = c.mod[0], fb = c.mod[1], extra = c.mod[2], s = c.mod[3];
  const LaneMask in = c.imm != 0 ? ReadPred(x, c.p) : 0;
  const auto shifted = [=](int i) {
    if constexpr (!kHigh) return (a[i] << s) ^ fa;
    const uint32_t top = kSx32 ? static_cast<uint32_t>(static_cast<int32_t>(a[i]) >> 31) : high[i];
    // Two steps: s may be 0, and a shift by 32 is not one.
    return ((top << s) | ((a[i] >> 1) >> (31 - s))) ^ fa;
  };
  if (c.pu == 7) {
    EachLane(x, c.d, [=](int i) { return shifted(i) + (b[i] ^ fb) + extra - LaneSelect(in, i); });
    return;
  }
  ScratchRow sum_space, carries_space;
  Row &sum = sum_space, &carries = carries_space;
  for (int i = 0; i < kWarpSize; ++i) {
    const uint32_t av = shifted(i);
    const uint32_t ab = av + (b[i] ^ fb);
    const uint32_t total = ab + extra - LaneSelect(in, i);
    sum.lane[i] = total;
    carries.lane[i] = (ab < av ? 1u : 0u) + (total < ab ? 1u : 0u);
  }
  WriteRow(x, c.d, sum);
  WritePred(x, c.pu, GatherLanes([&](int i) { return carries.lane[i] != 0; }));
}

Handler ChooseLea(const Instruction& inst, Compiled* c) {
  const sass::Operand* scale = inst.Find(sass::Slot::kScale);
  if (scale == nullptr) return nullptr;
  c->mod = {Flip(c->src[kSrcA]), Flip(c->src[kSrcB]), NegCount(*c), static_cast<uint32_t>(scale->value) & 31};
  c->imm = inst.Get(Field::kX);
  const bool sx32 = inst.Get(Field::kSx32) != 0;
  if (inst.Get(Field::kHi) == 0) return sx32 ? nullptr : Lea<false, false>;
  return sx32 ? Lea<true, true> : Lea<true, false>;
}

void Abs(Exec& x, const Compiled& c) {
  ScratchRow sb;
  const uint32_t* b = ReadRaw(x, c.src[kSrcB], 0, sb).lane.data();
  EachLane(x, c.d, [=](int i) {
    const uint32_t sign = static_cast<uint32_t>(static_cast<int32_t>(b[i]) >> 31);
    return (b[i] ^ sign) - sign;
  });
}

}  // namespace

Handler ChooseAdd(const Instruction& inst, Compiled* c) {
  switch (inst.op) {
    case Op::kIadd3:
      return ChooseAdd3(inst, c);
    case Op::kViadd: {
      // Two addends; the slots not there read as 0.
      c->mod = {Flip(c->src[kSrcA]), Flip(c->src[kSrcB]), Flip(c->src[kSrcC]), NegCount(*c)};
      return Add3;
    }
    case Op::kLea:
      return ChooseLea(inst, c);
    case Op::kIabs:
      return Abs;
    default:
      return nullptr;
  }
}

}  // namespace sm89::emu
