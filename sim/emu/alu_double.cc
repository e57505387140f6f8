// FP64: DADD DMUL DFMA DSETP.
#include "sim/emu/alu_families.h"
#include "sim/emu/alu_lanes.h"
#include "sim/emu/alu_scalar.h"
#include "sim/num/fp64.h"

namespace sm89::emu {

namespace {

using sass::Field;
using sass::Instruction;
using sass::Op;

constexpr uint64_t kSign = uint64_t{1} << 63;

// The FP64 numbers of a source, |x| and -x applied.
struct Doubles {
  Doubles(const Exec& x, const Src& s)
      : low(ReadRaw(x, s, 0, scratch[0])),
        high(ReadRaw(x, s, 1, scratch[1])),
        clear(s.abs ? ~kSign : ~uint64_t{0}),
        flip(s.neg ? kSign : 0) {}
  Doubles(const Doubles&) = delete;
  Doubles& operator=(const Doubles&) = delete;
  uint64_t operator[](int i) const { return (Pair(low, high, i) & clear) ^ flip; }

  Row scratch[2];
  const Row& low;
  const Row& high;
  uint64_t clear, flip;
};

num::Round RoundOf(const Compiled& c) { return static_cast<num::Round>(c.mod[0]); }

void Add(Exec& x, const Compiled& c) {
  const Doubles a(x, c.src[kSrcA]), b(x, SecondSource(c));
  EachLane64(x, c.d, [&](int i) { return num::Dadd(a[i], b[i], RoundOf(c)); });
}

void Multiply(Exec& x, const Compiled& c) {
  const Doubles a(x, c.src[kSrcA]), b(x, SecondSource(c));
  EachLane64(x, c.d, [&](int i) { return num::Dmul(a[i], b[i], RoundOf(c)); });
}

void MultiplyAdd(Exec& x, const Compiled& c) {
  const Doubles a(x, c.src[kSrcA]), b(x, c.src[kSrcB]), d(x, c.src[kSrcC]);
  EachLane64(x, c.d, [&](int i) { return num::Dfma(a[i], b[i], d[i], RoundOf(c)); });
}

void SetPredicate(Exec& x, const Compiled& c) {
  const Doubles a(x, c.src[kSrcA]), b(x, SecondSource(c));
  const LaneMask holds =
      GatherLanes([&](int i) { return num::FcmpHolds(c.mod[0], num::Dcompare(a[i], b[i])); });
  const LaneMask other = ReadPred(x, c.p);
  WritePred(x, c.pu, Combine(c.mod[1], holds, other));
  WritePred(x, c.pv, Combine(c.mod[1], ~holds, other));
}

bool IsNan(uint64_t bits) { return (bits & ~kSign) > 0x7ff0000000000000u; }

// MIN and MAX: Pu = take the first operand, Pv = both are NaN (ptxas selects by Pu, then quiets the second
// operand under Pv). -0 is less than +0.
template <bool kMax>
void SetPredicateMinMax(Exec& x, const Compiled& c) {
  const Doubles a(x, c.src[kSrcA]), b(x, SecondSource(c));
  const LaneMask first = GatherLanes([&](int i) {
    if (IsNan(a[i]) || IsNan(b[i])) return !IsNan(a[i]);
    const num::Relation relation = num::Dcompare(a[i], b[i]);
    if (relation == num::Relation::kEqual) return ((a[i] & kSign) != 0) != kMax;
    return (relation == num::Relation::kLess) != kMax;
  });
  const LaneMask both = GatherLanes([&](int i) { return IsNan(a[i]) && IsNan(b[i]); });
  const LaneMask other = ReadPred(x, c.p);
  WritePred(x, c.pu, Combine(c.mod[1], first, other));
  WritePred(x, c.pv, Combine(c.mod[1], both, other));
}

}  // namespace

Handler ChooseDouble(const Instruction& inst, Compiled* c) {
  c->mod = {inst.Get(Field::kRound), 0, 0, 0};
  switch (inst.op) {
    case Op::kDadd:
      return Add;
    case Op::kDmul:
      return Multiply;
    case Op::kDfma:
      return MultiplyAdd;
    case Op::kDsetp:
      c->mod = {inst.Get(Field::kFcmp), inst.Get(Field::kBop), 0, 0};
      if (c->mod[1] > sass::kBopXor) return nullptr;
      if (c->mod[0] == sass::kFcF) return SetPredicateMinMax<false>;
      if (c->mod[0] == sass::kFcT) return SetPredicateMinMax<true>;
      return SetPredicate;
    default:
      return nullptr;
  }
}

}  // namespace sm89::emu
