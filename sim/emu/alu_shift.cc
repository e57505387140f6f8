// SHF: funnel shifts of Rc:Ra.
#include "sim/emu/alu_families.h"
#include "sim/emu/alu_lanes.h"
#include "sim/emu/alu_scalar.h"

namespace sm89::emu {

namespace {

using sass::Field;
using sass::Instruction;

ShiftMode ModeOf(const Compiled& c) {
  return {.right = c.mod[0] != 0,
          .wrap = c.mod[1] != 0,
          .hi = c.mod[2] != 0,
          .wide = (c.mod[3] & 1) != 0,
          .is_signed = (c.mod[3] & 2) != 0};
}

void ShiftLanes(Exec& x, const Compiled& c) {
  ScratchRow sa, sb, sc;
  const Row& a = ReadRaw(x, c.src[kSrcA], 0, sa);
  const Row& b = ReadRaw(x, c.src[kSrcB], 0, sb);
  const Row& high = ReadRaw(x, c.src[kSrcC], 0, sc);
  const ShiftMode mode = ModeOf(c);
  EachLane(x, c.d, [&](int i) { return FunnelShift(mode, a.lane[i], b.lane[i], high.lane[i]); });
}

// Amounts that differ a lane and reach 32 at most: left shifts' lower word, right shifts' upper word, which
// depend on one source alone.
template <bool kRight, bool kSigned>
void ShiftWord(Exec& x, const Compiled& c) {
  ScratchRow sa, sb;
  const Row& v = ReadRaw(x, c.src[kRight ? kSrcC : kSrcA], 0, sa);
  const Row& b = ReadRaw(x, c.src[kSrcB], 0, sb);
  const uint32_t wrap_mask = c.mod[1] != 0 ? 31 : ~0u;
  EachLane(x, c.d, [&](int i) -> uint32_t {
    const uint32_t s = b.lane[i] & wrap_mask;
    if constexpr (kSigned) return static_cast<uint32_t>(static_cast<int32_t>(v.lane[i]) >> (s < 31 ? s : 31));
    const uint32_t shifted = kRight ? v.lane[i] >> (s & 31) : v.lane[i] << (s & 31);
    return s < 32 ? shifted : 0;
  });
}

// One amount for all lanes. Each result word is (v << left) | (w >> right) of one or two of the sources.
struct FixedShift {
  const uint32_t* a;
  const uint32_t* high;
  uint32_t s;
};

void RightLow(Exec& x, const Compiled& c, const FixedShift& f, bool is_signed) {
  const uint32_t *a = f.a, *h = f.high;
  const uint32_t s = f.s;
  if (s == 0) return EachLane(x, c.d, [=](int i) { return a[i]; });
  if (s < 32) return EachLane(x, c.d, [=](int i) { return a[i] >> s | h[i] << (32 - s); });
  const uint32_t t = s - 32 < 31 ? s - 32 : 31;
  if (is_signed) {
    return EachLane(x, c.d, [=](int i) { return static_cast<uint32_t>(static_cast<int32_t>(h[i]) >> t); });
  }
  if (s == 64) return EachLane(x, c.d, [=](int) { return 0u; });
  EachLane(x, c.d, [=](int i) { return h[i] >> t; });
}

void RightHigh(Exec& x, const Compiled& c, const FixedShift& f, bool is_signed) {
  const uint32_t* h = f.high;
  const uint32_t s = f.s < 31 ? f.s : 31;
  if (is_signed) {
    return EachLane(x, c.d, [=](int i) { return static_cast<uint32_t>(static_cast<int32_t>(h[i]) >> s); });
  }
  if (f.s >= 32) return EachLane(x, c.d, [=](int) { return 0u; });
  EachLane(x, c.d, [=](int i) { return h[i] >> s; });
}

void LeftLow(Exec& x, const Compiled& c, const FixedShift& f) {
  const uint32_t* a = f.a;
  const uint32_t s = f.s;
  if (s >= 32) return EachLane(x, c.d, [=](int) { return 0u; });
  EachLane(x, c.d, [=](int i) { return a[i] << s; });
}

void LeftHigh(Exec& x, const Compiled& c, const FixedShift& f) {
  const uint32_t *a = f.a, *h = f.high;
  const uint32_t s = f.s;
  if (s == 0) return EachLane(x, c.d, [=](int i) { return h[i]; });
  if (s < 32) return EachLane(x, c.d, [=](int i) { return h[i] << s | a[i] >> (32 - s); });
  if (s == 64) return EachLane(x, c.d, [=](int) { return 0u; });
  EachLane(x, c.d, [=](int i) { return a[i] << (s - 32); });
}

void ShiftFixed(Exec& x, const Compiled& c) {
  ScratchRow sa, sb, sc;
  const ShiftMode mode = ModeOf(c);
  const FixedShift f = {ReadRaw(x, c.src[kSrcA], 0, sa).lane.data(),
                        ReadRaw(x, c.src[kSrcC], 0, sc).lane.data(),
                        ShiftAmount(mode, ReadRaw(x, c.src[kSrcB], 0, sb).lane[0])};
  if (mode.right) {
    mode.hi ? RightHigh(x, c, f, mode.is_signed) : RightLow(x, c, f, mode.is_signed);
  } else {
    mode.hi ? LeftHigh(x, c, f) : LeftLow(x, c, f);
  }
}

}  // namespace

Handler ChooseShift(const Instruction& inst, Compiled* c) {
  const uint32_t format = inst.Get(Field::kShfFmt);
  const bool wide = format == sass::kShfS64 || format == sass::kShfU64;
  const bool is_signed = format == sass::kShfS64 || format == sass::kShfS32;
  c->mod = {inst.Get(Field::kRight), inst.Get(Field::kWrap), inst.Get(Field::kHi),
            (wide ? 1u : 0u) + (is_signed ? 2u : 0u)};
  if (IsBroadcast(c->src[kSrcB])) return ShiftFixed;
  if (!wide) {
    if (c->mod[0] == 0 && c->mod[2] == 0) return ShiftWord<false, false>;  // the upper word has no part in it
    if (c->mod[0] != 0 && c->mod[2] != 0) return is_signed ? ShiftWord<true, true> : ShiftWord<true, false>;
  }
  return ShiftLanes;
}

}  // namespace sm89::emu
