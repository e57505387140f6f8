// PLOP3, P2R, R2P.
#include "sim/emu/alu_families.h"
#include "sim/emu/alu_lanes.h"
#include "sim/emu/alu_scalar.h"

namespace sm89::emu {

namespace {

using sass::Field;
using sass::Instruction;
using sass::Op;

constexpr int kPredicates = 7;

void LogicPredicates(Exec& x, const Compiled& c) {
  const LaneMask p = ReadPred(x, c.p), q = ReadPred(x, c.q), r = ReadPred(x, c.r);
  WritePred(x, c.pu, Lut3(c.mod[0], p, q, r));
  WritePred(x, c.pv, Lut3(c.mod[1], p, q, r));
}

// The signs of three registers.
void LogicSigns(Exec& x, const Compiled& c) {
  LaneMask sign[3];
  for (int k = 0; k < 3; ++k) {
    ScratchRow scratch;
    const Row& row = ReadRaw(x, c.src[k], 0, scratch);
    sign[k] = GatherLanes([&](int i) { return row.lane[i] >> 31 != 0; });
  }
  WritePred(x, c.pu, Lut3(c.mod[0], sign[0], sign[1], sign[2]));
  WritePred(x, c.pv, Lut3(c.mod[1], sign[0], sign[1], sign[2]));
}

Handler ChoosePlop3(const Instruction& inst, Compiled* c) {
  const sass::Operand* lut = inst.Find(sass::Slot::kLut);
  const sass::Operand* lut2 = inst.Find(sass::Slot::kLut2);
  if (lut == nullptr || lut2 == nullptr) return nullptr;
  c->mod[0] = static_cast<uint32_t>(lut->value) & 0xff;
  c->mod[1] = static_cast<uint32_t>(lut2->value) & 0xff;
  return c->src[kSrcA].kind == Src::Kind::kNone ? LogicPredicates : LogicSigns;
}

// The predicates that the mask names, in byte `shift / 8` of Ra's value.
void PredicatesToRow(Exec& x, const Compiled& c) {
  ScratchRow sa, sb;
  ScratchRow out_space;
  Row& out = out_space;
  const Row& a = ReadRaw(x, c.src[kSrcA], 0, sa);
  const uint32_t mask = ReadRaw(x, c.src[kSrcB], 0, sb).lane[0] & 0x7f;
  const uint32_t shift = c.mod[0];
  for (int i = 0; i < kWarpSize; ++i) {
    uint32_t bits = 0;
    for (int p = 0; p < kPredicates; ++p) bits |= (x.w->pred[p] >> i & 1) << p;
    out.lane[i] = (a.lane[i] & ~(mask << shift)) | (bits & mask) << shift;
  }
  WriteRow(x, c.d, out);
}

void RowToPredicates(Exec& x, const Compiled& c) {
  ScratchRow sa, sb;
  const Row& a = ReadRaw(x, c.src[kSrcA], 0, sa);
  const uint32_t mask = ReadRaw(x, c.src[kSrcB], 0, sb).lane[0];
  for (uint8_t p = 0; p < kPredicates; ++p) {
    if ((mask >> p & 1) == 0) continue;
    const uint32_t bit = 1u << (c.mod[0] + p);
    WritePred(x, p, GatherLanes([&](int i) { return (a.lane[i] & bit) != 0; }));
  }
}

}  // namespace

Handler ChoosePredicate(const Instruction& inst, Compiled* c) {
  switch (inst.op) {
    case Op::kPlop3:
      return ChoosePlop3(inst, c);
    case Op::kP2r:
      c->mod[0] = 8 * inst.Get(Field::kByteSel);
      return PredicatesToRow;
    case Op::kR2p:
      c->mod[0] = 8 * inst.Get(Field::kByteSel);
      return RowToPredicates;
    default:
      return nullptr;
  }
}

}  // namespace sm89::emu
