// Conversions: F2F F2FP F2I F2IP FRND I2F I2FP I2I I2IP.
#include <bit>

#include "sim/emu/alu_convert_lanes.h"
#include "sim/emu/alu_families.h"
#include "sim/emu/alu_lanes.h"
#include "sim/num/convert.h"
#include "sim/sass/fields.h"

namespace sm89::emu {

namespace {

using num::FloatType;
using num::IntType;
using sass::Field;
using sass::Instruction;
using sass::Op;

bool FloatTypeOf(uint32_t raw, FloatType* type) {
  switch (raw) {
    case sass::kFmtF16:
      *type = FloatType::kF16;
      return true;
    case sass::kFmtF32:
      *type = FloatType::kF32;
      return true;
    case sass::kFmtF64:
      *type = FloatType::kF64;
      return true;
    case sass::kFmtBf16:
      *type = FloatType::kBf16;
      return true;
    default:
      return false;
  }
}

unsigned BitsOf(FloatType type) {
  if (type == FloatType::kF64) return 64;
  return type == FloatType::kF32 ? 32 : 16;
}

// The source numbers as bits, |x| and -x applied for floats: 64-bit pairs, words, or one half or byte of a
// register (the one numbered `place`).
struct SourceBits {
  SourceBits(const Exec& x, const Src& s, unsigned width, unsigned place)
      : low(ReadRaw(x, s, 0, scratch[0])), high(width == 64 ? ReadRaw(x, s, 1, scratch[1]) : low) {
    wide = width == 64;
    shift = width < 32 ? (width * place) % 32 : 0;
    const uint64_t sign = uint64_t{1} << (width - 1);
    keep = (width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1) & (s.abs ? ~sign : ~uint64_t{0});
    flip = s.neg ? sign : 0;
  }
  SourceBits(const SourceBits&) = delete;
  SourceBits& operator=(const SourceBits&) = delete;
  uint64_t operator[](int i) const {
    const uint64_t bits = wide ? Pair(low, high, i) : low.lane[i] >> shift;
    return (bits & keep) ^ flip;
  }

  Row scratch[2];
  const Row& low;
  const Row& high;
  bool wide;
  unsigned shift;
  uint64_t keep, flip;
};

// mod: source type, destination type, rounding | ftz << 4 | ntz << 5, half or byte of the source register.
constexpr uint32_t kFtzBit = 16, kNtzBit = 32;

template <typename F>
void Convert(Exec& x, const Compiled& c, unsigned source_bits, unsigned result_bits, F f) {
  const SourceBits source(x, c.src[kSrcB], source_bits, c.mod[3]);
  if (result_bits == 64) {
    EachLane64(x, c.d, [&](int i) { return f(source[i]); });
  } else {
    EachLane(x, c.d, [&](int i) { return static_cast<uint32_t>(f(source[i])); });
  }
}

void FloatToFloat(Exec& x, const Compiled& c) {
  const auto from = static_cast<FloatType>(c.mod[0]), to = static_cast<FloatType>(c.mod[1]);
  const auto round = static_cast<num::Round>(c.mod[2] & 3);
  const bool ftz = (c.mod[2] & kFtzBit) != 0;
  Convert(x, c, BitsOf(from), BitsOf(to), [&](uint64_t v) { return num::F2f(v, from, to, round, ftz); });
}

void RoundFloat(Exec& x, const Compiled& c) {
  const auto type = static_cast<FloatType>(c.mod[0]);
  const auto round = static_cast<num::IntRound>(c.mod[2] & 3);
  const bool ftz = (c.mod[2] & kFtzBit) != 0;
  Convert(x, c, BitsOf(type), BitsOf(type), [&](uint64_t v) { return num::Frnd(v, type, round, ftz); });
}

void FloatToInt(Exec& x, const Compiled& c) {
  const num::F2iMode mode = {.src = static_cast<FloatType>(c.mod[0]),
                             .dst = static_cast<IntType>(c.mod[1]),
                             .round = static_cast<num::IntRound>(c.mod[2] & 3),
                             .ftz = (c.mod[2] & kFtzBit) != 0,
                             .ntz = (c.mod[2] & kNtzBit) != 0};
  Convert(x, c, BitsOf(mode.src), num::BitsOf(mode.dst), [&](uint64_t v) { return num::F2i(v, mode); });
}

void IntToFloat(Exec& x, const Compiled& c) {
  const auto from = static_cast<IntType>(c.mod[0]);
  const auto to = static_cast<FloatType>(c.mod[1]);
  const auto round = static_cast<num::Round>(c.mod[2] & 3);
  Convert(x, c, num::BitsOf(from), BitsOf(to), [&](uint64_t v) { return num::I2f(v, from, to, round); });
}

// 32-bit integers to FP32, nearest: the host's own conversion does the same and vectorises.
template <bool kSigned>
void IntToSingle(Exec& x, const Compiled& c) {
  ScratchRow sb;
  const uint32_t* b = ReadRaw(x, c.src[kSrcB], 0, sb).lane.data();
  EachLane(x, c.d, [=](int i) {
    const float value = kSigned ? static_cast<float>(static_cast<int32_t>(b[i])) : static_cast<float>(b[i]);
    return std::bit_cast<uint32_t>(value);
  });
}

void PackFloats(Exec& x, const Compiled& c) {
  ScratchRow sa, sb, sc;
  const Row& a = ReadF32(x, c.src[kSrcA], sa);
  const Row& b = ReadF32(x, c.src[kSrcB], sb);
  const Row& d = ReadRaw(x, c.src[kSrcC], 0, sc);
  const num::F2fpMode mode = {.dst = c.mod[0] & 7,
                              .src = c.mod[0] >> 3 & 3,
                              .merge = c.mod[1],
                              .extract = c.mod[2],
                              .round = static_cast<num::Round>(c.mod[3] & 3),
                              .relu = (c.mod[3] & 4) != 0,
                              .satfinite = (c.mod[3] & 8) != 0};
  EachLane(x, c.d, [&](int i) { return num::F2fp(a.lane[i], b.lane[i], d.lane[i], mode); });
}

// Two FP32 numbers, nearest even: F2FP.F16.F32.PACK_AB and F2FP.BF16.F32.PACK_AB.
template <bool kBf16>
void PackSingles(Exec& x, const Compiled& c) {
  ScratchRow sa, sb;
  const uint32_t* a = ReadF32(x, c.src[kSrcA], sa).lane.data();
  const uint32_t* b = ReadF32(x, c.src[kSrcB], sb).lane.data();
  EachLane(x, c.d, [=](int i) {
    if constexpr (kBf16) return Bf16OfSingle(a[i]) << 16 | Bf16OfSingle(b[i]);
    return HalfOfSingle(a[i]) << 16 | HalfOfSingle(b[i]);
  });
}

// FP32 to FP64 without FTZ: exact; NaNs take the long way.
void SingleToDouble(Exec& x, const Compiled& c) {
  ScratchRow sb;
  const Row& b = ReadF32(x, c.src[kSrcB], sb);
  EachLane64(x, c.d, [&](int i) {
    const uint32_t bits = b.lane[i];
    if ((bits & 0x7fffffff) > 0x7f800000) {
      return num::F2f(bits, FloatType::kF32, FloatType::kF64, num::Round::kRn, false);
    }
    return std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(bits)));
  });
}

Handler ChoosePackFloats(const Instruction& inst, Compiled* c) {
  const sass::Operand* extract = inst.Find(sass::Slot::kExtract);
  const uint32_t round = inst.Get(Field::kRound);
  c->mod = {inst.Get(Field::kDstFmt) | inst.Get(Field::kSrcFmt) << 3, inst.Get(Field::kMerge),
            extract == nullptr ? 0 : static_cast<uint32_t>(extract->value),
            round | inst.Get(Field::kRelu) << 2 | inst.Get(Field::kSatfinite) << 3};
  const bool plain = c->mod[1] == sass::kPackAb && c->mod[3] == sass::kRn;
  if (plain && c->mod[0] == (sass::kPackF16 | sass::kPackSrcF32 << 3)) return PackSingles<false>;
  if (plain && c->mod[0] == (sass::kPackBf16 | sass::kPackSrcF32 << 3)) return PackSingles<true>;
  return round == sass::kRn || round == sass::kRz ? PackFloats : nullptr;
}

// A signed number clamped to the range of `bits` bits, its low `bits` bits.
uint32_t Saturate(int64_t value, unsigned bits, bool is_signed) {
  const int64_t low = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
  const int64_t high = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  const int64_t clamped = value < low ? low : value > high ? high : value;
  return static_cast<uint32_t>(clamped) & static_cast<uint32_t>((uint64_t{1} << bits) - 1);
}

void SaturateInt(Exec& x, const Compiled& c) {
  ScratchRow sb;
  const Row& b = ReadRaw(x, c.src[kSrcB], 0, sb);
  EachLane(x, c.d, [&](int i) { return Saturate(static_cast<int32_t>(b.lane[i]), c.mod[0], c.mod[1] != 0); });
}

// PTX cvt.pack: a above b, below what fits of c.
uint32_t PackTwo(uint32_t a, uint32_t b, uint32_t c, unsigned bits) {
  const uint32_t two = a << bits | b;
  return bits == 16 ? two : two | c << (2 * bits);
}

void PackInts(Exec& x, const Compiled& c) {
  ScratchRow sa, sb, sc;
  const Row& a = ReadRaw(x, c.src[kSrcA], 0, sa);
  const Row& b = ReadRaw(x, c.src[kSrcB], 0, sb);
  const Row& d = ReadRaw(x, c.src[kSrcC], 0, sc);
  const unsigned bits = c.mod[0];
  const bool is_signed = c.mod[1] != 0;
  EachLane(x, c.d, [&](int i) {
    return PackTwo(Saturate(static_cast<int32_t>(a.lane[i]), bits, is_signed),
                   Saturate(static_cast<int32_t>(b.lane[i]), bits, is_signed), d.lane[i], bits);
  });
}

void PackFloatsAsInts(Exec& x, const Compiled& c) {
  ScratchRow sa, sb, sc;
  const Row& a = ReadF32(x, c.src[kSrcA], sa);
  const Row& b = ReadF32(x, c.src[kSrcB], sb);
  const Row& d = ReadRaw(x, c.src[kSrcC], 0, sc);
  const num::F2iMode mode = {.src = FloatType::kF32,
                             .dst = static_cast<IntType>(c.mod[0]),
                             .round = static_cast<num::IntRound>(c.mod[1]),
                             .ftz = false,
                             .ntz = true};
  EachLane(x, c.d, [&](int i) {
    const auto first = static_cast<uint32_t>(num::F2i(a.lane[i], mode)) & 0xff;
    const auto second = static_cast<uint32_t>(num::F2i(b.lane[i], mode)) & 0xff;
    return PackTwo(first, second, d.lane[i], 8);
  });
}

// I2IP's destination: U8 S8 U16 S16 U2 S2 U4 S4.
constexpr unsigned kPackBits[8] = {8, 8, 16, 16, 2, 2, 4, 4};

Handler ChooseFloatSource(const Instruction& inst, Compiled* c) {
  FloatType from{}, to{};
  if (!FloatTypeOf(inst.Get(Field::kSrcFmt), &from)) return nullptr;
  const uint32_t flags =
      (inst.Get(Field::kFtz) != 0 ? kFtzBit : 0) | (inst.Get(Field::kNtz) != 0 ? kNtzBit : 0);
  c->mod[0] = static_cast<uint32_t>(from);
  c->mod[3] = inst.Get(Field::kHalfSel);
  if (inst.op == Op::kF2f) {
    if (!FloatTypeOf(inst.Get(Field::kDstFmt), &to)) return nullptr;
    c->mod[1] = static_cast<uint32_t>(to);
    c->mod[2] = inst.Get(Field::kRound) | flags;
    if (from == FloatType::kF32 && to == FloatType::kF64 && (flags & kFtzBit) == 0) return SingleToDouble;
    return FloatToFloat;
  }
  c->mod[1] = inst.Get(Field::kDstFmt) & 7;
  c->mod[2] = inst.Get(Field::kIntRound) | flags;
  return inst.op == Op::kF2i ? FloatToInt : RoundFloat;
}

Handler ChooseIntSource(const Instruction& inst, Compiled* c) {
  FloatType to{};
  if (!FloatTypeOf(inst.Get(Field::kDstFmt), &to)) return nullptr;
  const sass::Operand* source = inst.Find(sass::Slot::kB);
  const bool is_immediate = source != nullptr && source->kind == sass::OperandKind::kImm;
  // How an immediate becomes a 64-bit integer is not known; ptxas writes none.
  if (is_immediate && inst.Get(Field::kSrcFmt) >= sass::kFmtU64) return nullptr;
  c->mod = {inst.Get(Field::kSrcFmt) & 7, static_cast<uint32_t>(to), inst.Get(Field::kRound),
            inst.Get(Field::kHalfSel) | inst.Get(Field::kByteSel)};
  if (to == FloatType::kF32 && c->mod[2] == sass::kRn) {
    if (c->mod[0] == sass::kFmtU32) return IntToSingle<false>;
    if (c->mod[0] == sass::kFmtS32) return IntToSingle<true>;
  }
  return IntToFloat;
}

}  // namespace

Handler ChooseConvert(const Instruction& inst, Compiled* c) {
  const uint32_t dst = inst.Get(Field::kDstFmt);
  switch (inst.op) {
    case Op::kF2f:
    case Op::kF2i:
    case Op::kFrnd:
      return ChooseFloatSource(inst, c);
    case Op::kI2f:
    case Op::kI2fp:
      return ChooseIntSource(inst, c);
    case Op::kF2fp:
      return ChoosePackFloats(inst, c);
    case Op::kI2i:
    case Op::kI2ip:
      if (inst.Get(Field::kHalfSel) != 0) return nullptr;  // a half of C: not met
      c->mod = {kPackBits[dst & 7], dst & 1, 0, 0};
      return inst.op == Op::kI2i ? SaturateInt : PackInts;
    case Op::kF2ip:
      c->mod = {dst, inst.Get(Field::kIntRound), 0, 0};
      return dst > sass::kFmtS8 ? nullptr : PackFloatsAsInts;
    default:
      return nullptr;
  }
}

}  // namespace sm89::emu
