// LOP3 and PRMT.
#include <array>
#include <utility>

#include "sim/emu/alu_families.h"
#include "sim/emu/alu_lanes.h"
#include "sim/emu/alu_scalar.h"

namespace sm89::emu {

namespace {

using sass::Field;
using sass::Instruction;
using sass::Op;

// A function of two bits by its truth table (index b*2 + c), in as few operations as there are.
template <uint32_t kTable>
inline uint32_t Two(uint32_t b, uint32_t c) {
  if constexpr (kTable == 0) return 0;
  if constexpr (kTable == 1) return ~(b | c);
  if constexpr (kTable == 2) return ~b & c;
  if constexpr (kTable == 3) return ~b;
  if constexpr (kTable == 4) return b & ~c;
  if constexpr (kTable == 5) return ~c;
  if constexpr (kTable == 6) return b ^ c;
  if constexpr (kTable == 7) return ~(b & c);
  if constexpr (kTable == 8) return b & c;
  if constexpr (kTable == 9) return ~(b ^ c);
  if constexpr (kTable == 10) return c;
  if constexpr (kTable == 11) return ~b | c;
  if constexpr (kTable == 12) return b;
  if constexpr (kTable == 13) return b | ~c;
  if constexpr (kTable == 14) return b | c;
  return ~0u;
}

// One function a truth table: what a = 0 and a = 1 leave are functions of b and c.
template <uint32_t kLut>
void LogicRow(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d) {
  constexpr uint32_t kZero = kLut & 15, kOne = kLut >> 4;
  SM89_LANE_LOOP
  for (int i = 0; i < kWarpSize; ++i) {
    if constexpr (kZero == kOne) {
      d[i] = Two<kZero>(b[i], c[i]);
    } else if constexpr (kZero == (kOne ^ 15)) {
      d[i] = a[i] ^ Two<kZero>(b[i], c[i]);
    } else {
      d[i] = (a[i] & Two<kOne>(b[i], c[i])) | (~a[i] & Two<kZero>(b[i], c[i]));
    }
  }
}

using LogicRowFunction = void (*)(const uint32_t*, const uint32_t*, const uint32_t*, uint32_t*);

template <size_t... kLuts>
constexpr std::array<LogicRowFunction, 256> LogicRows(std::index_sequence<kLuts...>) {
  return {LogicRow<kLuts>...};
}
constexpr std::array<LogicRowFunction, 256> kLogicRows = LogicRows(std::make_index_sequence<256>());

// Pu: whether any bit of the result is set, OR or AND with Pp.
template <bool kWithPredicate>
void Logic(Exec& x, const Compiled& c) {
  ScratchRow sa, sb, sc;
  ScratchRow out_space;
  Row& out = out_space;
  const uint32_t* a = ReadRaw(x, c.src[kSrcA], 0, sa).lane.data();
  const uint32_t* b = ReadRaw(x, c.src[kSrcB], 0, sb).lane.data();
  const uint32_t* d = ReadRaw(x, c.src[kSrcC], 0, sc).lane.data();
  if (!kWithPredicate && x.lanes == kAllLanes) {
    kLogicRows[c.mod[0]](a, b, d, x.w->rows[c.d].lane.data());
    return;
  }
  kLogicRows[c.mod[0]](a, b, d, out.lane.data());
  WriteRow(x, c.d, out);
  if constexpr (kWithPredicate) {
    const LaneMask set = GatherLanes([&](int i) { return out.lane[i] != 0; });
    const LaneMask other = ReadPred(x, c.p);
    WritePred(x, c.pu, c.mod[1] != 0 ? set & other : set | other);
  }
}

Handler ChooseLop3(const Instruction& inst, Compiled* c) {
  const sass::Operand* lut = inst.Find(sass::Slot::kLut);
  if (lut == nullptr) return nullptr;
  c->mod[0] = static_cast<uint32_t>(lut->value) & 0xff;
  c->mod[1] = inst.Get(Field::kLopPop);
  return c->pu == 7 ? Logic<false> : Logic<true>;
}

void PermuteLanes(Exec& x, const Compiled& c) {
  ScratchRow sa, sb, sc;
  const Row& a = ReadRaw(x, c.src[kSrcA], 0, sa);
  const Row& b = ReadRaw(x, c.src[kSrcB], 0, sb);
  const Row& d = ReadRaw(x, c.src[kSrcC], 0, sc);
  const uint32_t mode = c.mod[0];
  EachLane(x, c.d, [&](int i) { return Permute(a.lane[i], PermuteSelector(mode, b.lane[i]), d.lane[i]); });
}

// The same selector in all lanes: a shift a byte.
void PermuteFixed(Exec& x, const Compiled& c) {
  ScratchRow sa, sc;
  const uint32_t* a = ReadRaw(x, c.src[kSrcA], 0, sa).lane.data();
  const uint32_t* d = ReadRaw(x, c.src[kSrcC], 0, sc).lane.data();
  const uint32_t selector = c.mod[1];
  const uint32_t* from[4];
  uint32_t shift[4];
  for (uint32_t k = 0; k < 4; ++k) {
    const uint32_t nibble = selector >> (4 * k) & 15;
    from[k] = (nibble & 4) != 0 ? d : a;
    shift[k] = 8 * (nibble & 3);
  }
  const uint32_t *f0 = from[0], *f1 = from[1], *f2 = from[2], *f3 = from[3];
  const uint32_t s0 = shift[0], s1 = shift[1], s2 = shift[2], s3 = shift[3];
  EachLane(x, c.d, [=](int i) {
    return (f0[i] >> s0 & 0xff) | (f1[i] >> s1 & 0xff) << 8 | (f2[i] >> s2 & 0xff) << 16 | f3[i] >> s3 << 24;
  });
}

// The same where some bytes are the signs of others (sign extension of bytes and halves): each byte is moved
// to the top and comes down with an arithmetic shift, all the way where its sign is asked for.
void PermuteSigns(Exec& x, const Compiled& c) {
  ScratchRow sa, sc;
  const uint32_t* a = ReadRaw(x, c.src[kSrcA], 0, sa).lane.data();
  const uint32_t* d = ReadRaw(x, c.src[kSrcC], 0, sc).lane.data();
  const uint32_t* from[4];
  uint32_t up[4], down[4];
  for (uint32_t k = 0; k < 4; ++k) {
    const uint32_t nibble = c.mod[1] >> (4 * k) & 15;
    from[k] = (nibble & 4) != 0 ? d : a;
    up[k] = 24 - 8 * (nibble & 3);
    down[k] = (nibble & 8) != 0 ? 31 : 24;
  }
  const uint32_t *f0 = from[0], *f1 = from[1], *f2 = from[2], *f3 = from[3];
  const uint32_t u0 = up[0], u1 = up[1], u2 = up[2], u3 = up[3];
  const uint32_t d0 = down[0], d1 = down[1], d2 = down[2], d3 = down[3];
  const auto byte = [](uint32_t value, uint32_t left, uint32_t right) {
    return static_cast<uint32_t>(static_cast<int32_t>(value << left) >> right) & 0xff;
  };
  EachLane(x, c.d, [=](int i) {
    return byte(f0[i], u0, d0) | byte(f1[i], u1, d1) << 8 | byte(f2[i], u2, d2) << 16 |
           byte(f3[i], u3, d3) << 24;
  });
}

// Two whole halves: selectors such as 0x5410 and 0x7632.
void PermuteHalves(Exec& x, const Compiled& c) {
  ScratchRow sa, sc;
  const uint32_t* a = ReadRaw(x, c.src[kSrcA], 0, sa).lane.data();
  const uint32_t* d = ReadRaw(x, c.src[kSrcC], 0, sc).lane.data();
  const uint32_t low = c.mod[1] & 7, high = c.mod[1] >> 8 & 7;
  const uint32_t *f0 = (low & 4) != 0 ? d : a, *f1 = (high & 4) != 0 ? d : a;
  const uint32_t s0 = 8 * (low & 3), s1 = 8 * (high & 3);
  EachLane(x, c.d, [=](int i) { return (f0[i] >> s0 & 0xffff) | f1[i] >> s1 << 16; });
}

Handler ChoosePermute(const Instruction& inst, Compiled* c) {
  c->mod[0] = inst.Get(Field::kPrmtMode);
  if (c->mod[0] > sass::kPrmtRc16) return nullptr;
  if (c->src[kSrcB].kind != Src::Kind::kFixed) return PermuteLanes;
  const uint32_t selector = PermuteSelector(c->mod[0], c->src[kSrcB].fixed->lane[0]);
  c->mod[1] = selector;
  if ((selector & 0x8888) != 0) return PermuteSigns;
  const uint32_t low = selector & 0xff, high = selector >> 8;
  const auto is_half = [](uint32_t pair) { return (pair & 1) == 0 && pair >> 4 == (pair & 15) + 1; };
  return is_half(low) && is_half(high) ? PermuteHalves : PermuteFixed;
}

}  // namespace

Handler ChooseLogic(const Instruction& inst, Compiled* c) {
  return inst.op == Op::kLop3 ? ChooseLop3(inst, c) : ChoosePermute(inst, c);
}

}  // namespace sm89::emu
