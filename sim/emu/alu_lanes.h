// Loops over the 32 lanes of a row, in the shape that compilers turn into vector code: no branch in a loop,
// masks by kLaneBit, results written straight into the destination row when every lane executes.
#pragma once

#include <cstdint>

#include "sim/emu/exec.h"

// The rows of one instruction are the same row or do not overlap at all, so no lane of a loop depends on
// another one.
#if defined(__clang__)
#define SM89_LANE_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define SM89_LANE_LOOP _Pragma("GCC ivdep")
#endif

namespace sm89::emu {

// A row whose lanes start without values: a Row starts as zeros, which costs as much as an addition of rows.
struct ScratchRow {
  ScratchRow() {}  // NOLINT: `row` stays as it is
  operator Row&() { return row; }
  union {
    Row row;
  };
};

// d[i] = f(i) for the executed lanes. f reads lane i of its rows only.
template <typename F>
inline void EachLane(Exec& x, uint32_t row, F f) {
  ScratchRow space;
  Row& out = space;
  const bool all = x.lanes == kAllLanes;
  uint32_t* const to = all ? x.w->rows[row].lane.data() : out.lane.data();
  SM89_LANE_LOOP
  for (int i = 0; i < kWarpSize; ++i) to[i] = f(i);
  if (!all) WriteRow(x, row, out);
}

// d = what fill(to) writes to the 32 words at `to`, for the executed lanes. fill may read the old row.
template <typename F>
inline void WholeRow(Exec& x, uint32_t row, F fill) {
  ScratchRow space;
  Row& out = space;
  const bool all = x.lanes == kAllLanes;
  fill(all ? x.w->rows[row].lane.data() : out.lane.data());
  if (!all) WriteRow(x, row, out);
}

// d:d+1 = f(i) for the executed lanes.
template <typename F>
inline void EachLane64(Exec& x, uint32_t row, F f) {
  ScratchRow low_space, high_space;
  Row &low = low_space, &high = high_space;
  for (int i = 0; i < kWarpSize; ++i) {
    const uint64_t value = f(i);
    low.lane[i] = static_cast<uint32_t>(value);
    high.lane[i] = static_cast<uint32_t>(value >> 32);
  }
  WriteRow(x, row, low);
  WriteRow(x, row + 1, high);
}

// Bit i = f(i), for all 32 lanes.
template <typename F>
inline LaneMask GatherLanes(F f) {
  LaneMask mask = 0;
  // No conditional: compilers make a branch of one.
  for (int i = 0; i < kWarpSize; ++i) mask |= (0u - static_cast<uint32_t>(f(i))) & kLaneBit[i];
  return mask;
}

// All ones where the lane's bit is set, else 0.
inline uint32_t LaneSelect(LaneMask mask, int i) { return (mask & kLaneBit[i]) != 0 ? ~0u : 0u; }

inline uint64_t Pair(const Row& low, const Row& high, int i) {
  return low.lane[i] | static_cast<uint64_t>(high.lane[i]) << 32;
}

// The second operand of two-operand instructions, which some forms encode as C.
inline const Src& SecondSource(const Compiled& c) {
  return c.src[c.src[kSrcB].kind != Src::Kind::kNone ? kSrcB : kSrcC];
}

// A source whose lanes all hold the same value.
inline bool IsBroadcast(const Src& s) { return s.kind == Src::Kind::kFixed || s.kind == Src::Kind::kUniform; }

}  // namespace sm89::emu
