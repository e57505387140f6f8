// SHFL, VOTE, VOTEU, MATCH, REDUX, R2UR: instructions whose lanes look at one another.
#include <array>
#include <bit>

#include "sim/emu/alu_families.h"
#include "sim/emu/alu_lanes.h"
#include "sim/emu/alu_scalar.h"

namespace sm89::emu {

namespace {

using sass::Field;
using sass::Instruction;
using sass::Op;

enum ShuffleMode : uint32_t { kIdx = 0, kUp = 1, kDown = 2, kBfly = 3 };

struct Partner {
  int lane;
  bool in_range;
};

// PTX shfl.sync: c holds the bound in [4:0] and the segment mask in [12:8].
template <uint32_t kMode>
inline Partner PartnerOf(int lane, uint32_t b, uint32_t c) {
  const int segment = static_cast<int>(c >> 8 & 31), bound = static_cast<int>(c & 31);
  const int first = lane & segment, last = first | (bound & ~segment);
  const int distance = static_cast<int>(b & 31);
  if constexpr (kMode == kUp) return {lane - distance, lane - distance >= last};
  if constexpr (kMode == kDown) return {lane + distance, lane + distance <= last};
  if constexpr (kMode == kBfly) return {lane ^ distance, (lane ^ distance) <= last};
  const int target = first | (distance & ~segment);
  return {target, target <= last};
}

// A lane whose partner is out of range gets its own value; one whose partner does not execute (undefined in
// PTX) gets 0, as an H200 gives it (probe shfl_divergent).
template <uint32_t kMode>
void Shuffle(Exec& x, const Compiled& c) {
  ScratchRow sa, sb, sc;
  ScratchRow out_space;
  Row& out = out_space;
  const Row& a = ReadRaw(x, c.src[kSrcA], 0, sa);
  const Row& b = ReadRaw(x, c.src[kSrcB], 0, sb);
  const Row& bounds = ReadRaw(x, c.src[kSrcC], 0, sc);
  const LaneMask lanes = x.lanes;
  LaneMask in_range = 0;
  for (int i = 0; i < kWarpSize; ++i) {
    const Partner partner = PartnerOf<kMode>(i, b.lane[i], bounds.lane[i]);
    const int from = partner.in_range ? partner.lane : i;
    out.lane[i] = a.lane[from] & (0u - (lanes >> from & 1));
    in_range |= static_cast<uint32_t>(partner.in_range) << i;
  }
  WriteRow(x, c.d, out);
  WritePred(x, c.pu, in_range);
}

enum VoteOp : uint32_t { kAll = 0, kAny = 1, kEq = 2 };

bool Vote(uint32_t op, LaneMask ballot, LaneMask lanes) {
  if (op == kAny) return ballot != 0;
  return ballot == lanes || (op == kEq && ballot == 0);
}

void VoteLanes(Exec& x, const Compiled& c) {
  const LaneMask ballot = ReadPred(x, c.p) & x.lanes;
  EachLane(x, c.d, [=](int) { return ballot; });
  WritePred(x, c.pu, Vote(c.mod[0], ballot, x.lanes) ? kAllLanes : 0);
}

void VoteUniform(Exec& x, const Compiled& c) {
  const LaneMask ballot = ReadPred(x, c.p) & x.lanes;
  WriteUr(x, c.d, ballot);
  WriteUPred(x, c.pu, Vote(c.mod[0], ballot, x.lanes));
}

// Lanes of the warp that hold lane i's value.
template <bool kAnyMode>
void Match(Exec& x, const Compiled& c) {
  ScratchRow s0, s1;
  ScratchRow out_space;
  Row& out = out_space;
  const Row& low = ReadRaw(x, c.src[kSrcA], 0, s0);
  const Row& high = c.mod[0] != 0 ? ReadRaw(x, c.src[kSrcA], 1, s1) : low;
  const auto same = [&](int i) {
    return GatherLanes([&](int k) { return low.lane[k] == low.lane[i] && high.lane[k] == high.lane[i]; }) &
           x.lanes;
  };
  if constexpr (kAnyMode) {
    for (int i = 0; i < kWarpSize; ++i) out.lane[i] = same(i);
    WriteRow(x, c.d, out);
    return;
  }
  const bool all = x.lanes != 0 && same(std::countr_zero(x.lanes)) == x.lanes;
  const LaneMask lanes = all ? x.lanes : 0;
  EachLane(x, c.d, [=](int) { return lanes; });
  WritePred(x, c.pu, all ? kAllLanes : 0);
}

enum ReduceOp : uint32_t { kAnd = 0, kOr = 1, kXor = 2, kSum = 3, kMin = 4, kMax = 5 };

uint32_t Reduce(uint32_t op, bool is_signed, uint32_t a, uint32_t b) {
  switch (op) {
    case kAnd:
      return a & b;
    case kOr:
      return a | b;
    case kXor:
      return a ^ b;
    case kSum:
      return a + b;
    default: {
      const bool less = is_signed ? static_cast<int32_t>(a) < static_cast<int32_t>(b) : a < b;
      return less == (op == kMin) ? a : b;
    }
  }
}

void ReduceLanes(Exec& x, const Compiled& c) {
  if (x.lanes == 0) return;
  ScratchRow sa;
  const Row& a = ReadRaw(x, c.src[kSrcA], 0, sa);
  uint32_t value = a.lane[std::countr_zero(x.lanes)];
  for (LaneMask rest = x.lanes & (x.lanes - 1); rest != 0; rest &= rest - 1) {
    value = Reduce(c.mod[0], c.mod[1] != 0, value, a.lane[std::countr_zero(rest)]);
  }
  WriteUr(x, c.d, value);
}

// The value of the lowest executed lane (ptxas uses it on warp-uniform values). The destination predicate is
// seen in one idiom only, REDUX.OR UR, R; R2UR P, URZ, R; @!P BRA.DIV UR with the threads' masks in R: lanes
// of another mask must be missed by the check (the vote behind it takes all active lanes).
void RowToUniform(Exec& x, const Compiled& c) {
  if (x.lanes == 0) return;
  ScratchRow sa;
  const Row& a = ReadRaw(x, c.src[kSrcA], 0, sa);
  const uint32_t value = a.lane[std::countr_zero(x.lanes)];
  LaneMask others = 0;
  for (int i = 0; i < kWarpSize; ++i) others |= a.lane[i] != value ? kLaneBit[i] : 0;
  WriteUr(x, c.d, value);
  WritePred(x, c.pu, others);
}

}  // namespace

Handler ChooseWarp(const Instruction& inst, Compiled* c) {
  switch (inst.op) {
    case Op::kShfl:
      return std::array<Handler, 4>{Shuffle<kIdx>, Shuffle<kUp>, Shuffle<kDown>,
                                    Shuffle<kBfly>}[inst.Get(Field::kShflMode) & 3];
    case Op::kVote:
    case Op::kVoteu:
      c->mod[0] = inst.Get(Field::kVoteOp);
      if (c->mod[0] > kEq) return nullptr;
      return inst.op == Op::kVote ? VoteLanes : VoteUniform;
    case Op::kMatch:
      c->mod[0] = inst.Get(Field::kMatch64);
      return inst.Get(Field::kMatchAny) != 0 ? Match<true> : Match<false>;
    case Op::kRedux:
      c->mod = {inst.Get(Field::kReduxOp), inst.Get(Field::kSigned), 0, 0};
      return c->mod[0] > kMax ? nullptr : ReduceLanes;
    case Op::kR2ur:
      return RowToUniform;
    default:
      return nullptr;
  }
}

}  // namespace sm89::emu
