// MOV, SEL, FSEL and integer minimum and maximum.
#include "sim/emu/alu_families.h"
#include "sim/emu/alu_lanes.h"
#include "sim/sass/fields.h"

namespace sm89::emu {

namespace {

using sass::Field;
using sass::Instruction;
using sass::Op;

void Move(Exec& x, const Compiled& c) {
  ScratchRow sb;
  WriteRow(x, c.d, ReadRaw(x, c.src[kSrcB], 0, sb));
}

void Select(Exec& x, const Compiled& c) {
  ScratchRow sa, sb;
  const uint32_t* a = ReadInt(x, c.src[kSrcA], sa).lane.data();
  const uint32_t* b = ReadInt(x, c.src[kSrcB], sb).lane.data();
  const LaneMask first = ReadPred(x, c.p);
  EachLane(x, c.d, [=](int i) {
    const uint32_t take = LaneSelect(first, i);
    return (a[i] & take) | (b[i] & ~take);
  });
}

// FTZ: a subnormal result becomes a zero of its sign.
template <bool kFlush>
void SelectFloat(Exec& x, const Compiled& c) {
  ScratchRow sa, sb;
  const uint32_t* a = ReadF32(x, c.src[kSrcA], sa).lane.data();
  const uint32_t* b = ReadF32(x, c.src[kSrcB], sb).lane.data();
  const LaneMask first = ReadPred(x, c.p);
  EachLane(x, c.d, [=](int i) {
    const uint32_t take = LaneSelect(first, i);
    const uint32_t v = (a[i] & take) | (b[i] & ~take);
    if constexpr (!kFlush) return v;
    return (v & 0x7f800000u) == 0 ? v & 0x80000000u : v;
  });
}

template <bool kSigned>
inline uint32_t MinMax(uint32_t a, uint32_t b, uint32_t take_min) {
  const bool less = kSigned ? static_cast<int32_t>(a) < static_cast<int32_t>(b) : a < b;
  const uint32_t pick_a = (less ? ~0u : 0u) ^ ~take_min;
  return (a & pick_a) | (b & ~pick_a);
}

// Pp true: the smaller.
template <bool kSigned>
void MinOrMax(Exec& x, const Compiled& c) {
  ScratchRow sa, sb;
  const uint32_t* a = ReadInt(x, c.src[kSrcA], sa).lane.data();
  const uint32_t* b = ReadInt(x, c.src[kSrcB], sb).lane.data();
  const LaneMask min = ReadPred(x, c.p);
  EachLane(x, c.d, [=](int i) { return MinMax<kSigned>(a[i], b[i], LaneSelect(min, i)); });
}

// min or max of a + b and c.
template <bool kSigned>
void AddMinOrMax(Exec& x, const Compiled& c) {
  ScratchRow sa, sb, sc;
  const uint32_t* a = ReadInt(x, c.src[kSrcA], sa).lane.data();
  const uint32_t* b = ReadInt(x, c.src[kSrcB], sb).lane.data();
  const uint32_t* d = ReadInt(x, c.src[kSrcC], sc).lane.data();
  const LaneMask min = ReadPred(x, c.p);
  EachLane(x, c.d, [=](int i) { return MinMax<kSigned>(a[i] + b[i], d[i], LaneSelect(min, i)); });
}

}  // namespace

Handler ChooseSelect(const Instruction& inst) {
  const bool is_signed = inst.Get(Field::kSigned) != 0;
  switch (inst.op) {
    case Op::kMov: {
      const sass::Operand* mask = inst.Find(sass::Slot::kMask);
      // The mask picks bytes; ptxas writes 15, all of them.
      return mask != nullptr && mask->value != 15 ? nullptr : Move;
    }
    case Op::kSel:
      return Select;
    case Op::kFsel:
      return inst.Get(Field::kFtz) != 0 ? SelectFloat<true> : SelectFloat<false>;
    case Op::kImnmx:
      return is_signed ? MinOrMax<true> : MinOrMax<false>;
    case Op::kVimnmx:
      if (inst.Get(Field::kRelu) != 0) return nullptr;
      return is_signed ? MinOrMax<true> : MinOrMax<false>;
    case Op::kViaddmnmx:
      if (inst.Get(Field::kRelu) != 0) return nullptr;
      return is_signed ? AddMinOrMax<true> : AddMinOrMax<false>;
    default:
      return nullptr;
  }
}

}  // namespace sm89::emu
