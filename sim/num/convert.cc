#include "sim/num/convert.h"

#include <bit>

#include "sim/num/fp32.h"
#include "sim/num/half.h"
#include "sim/num/softfloat.h"

namespace sm89::num {
namespace {

const Format& FormatOf(FloatType type) {
  static constexpr Format kFormats[] = {kFp16Format, kBf16Format, kFp32Format, kFp64Format,
                                        kE4m3Format, kE5m2Format, kTf32Format};
  return kFormats[static_cast<int>(type)];
}

// FTZ concerns FP32 alone: narrower formats keep their subnormals, FP64 has no FTZ.
bool Flushes(FloatType type, bool ftz) { return ftz && type == FloatType::kF32; }

Exact Source(uint64_t bits, FloatType type, bool ftz) {
  return Unpack(FormatOf(type), type == FloatType::kTf32 ? bits >> 13 : bits, Flushes(type, ftz));
}

uint64_t Result(const Exact& exact, FloatType type, PackMode mode) {
  const uint64_t bits = Pack(FormatOf(type), exact, mode);
  if (type != FloatType::kTf32) return bits;
  return bits == kTf32Format.nan ? kNanTf32 : bits << 13;
}

Round AsRound(IntRound round) { return static_cast<Round>(round); }

uint64_t Extended(uint64_t value, IntType type) {
  const unsigned width = BitsOf(type);
  if (width == 64) return value;
  const uint64_t mask = (uint64_t{1} << width) - 1;
  value &= mask;
  if (IsSigned(type) && ((value >> (width - 1)) & 1) != 0) value |= ~mask;
  return value & 0xffffffffu;
}

// FP32 to a 32-bit integer by truncation, of numbers that fit; answers false for all else.
bool FastF2i(uint64_t bits, F2iMode mode, uint64_t* value) {
  if (mode.src != FloatType::kF32 || mode.dst != IntType::kS32 || mode.round != IntRound::kTrunc)
    return false;
  const auto single = std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (!(single > -0x1p31f && single < 0x1p31f)) return false;
  *value = static_cast<uint32_t>(static_cast<int32_t>(single));  // a flushed subnormal gives the same zero
  return true;
}

}  // namespace

uint64_t F2i(uint64_t bits, F2iMode mode) {
  uint64_t fast = 0;
  if (FastF2i(bits, mode, &fast)) return fast;
  const Exact exact = Source(bits, mode.src, mode.ftz);
  const unsigned width = BitsOf(mode.dst);
  const bool is_signed = IsSigned(mode.dst);
  if (exact.kind == FloatClass::kNan) {
    return mode.ntz ? 0 : Extended(uint64_t{1} << (width - 1), mode.dst);
  }
  if (exact.kind == FloatClass::kZero) return 0;
  const uint64_t all = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  const uint64_t largest = is_signed ? all >> 1 : all;
  const uint64_t lowest = is_signed ? largest + 1 : 0;  // magnitude of the least number
  const uint64_t limit = exact.negative ? lowest : largest;
  Uint128 magnitude = limit;
  if (exact.kind == FloatClass::kFinite && exact.exponent + BitWidth(exact.mantissa) <= 65) {
    magnitude = RoundShifted(exact, -exact.exponent, AsRound(mode.round));
    if (magnitude > limit) magnitude = limit;
  }
  const auto value = static_cast<uint64_t>(magnitude);
  return Extended(exact.negative ? uint64_t{0} - value : value, mode.dst);
}

uint64_t I2f(uint64_t value, IntType src, FloatType dst, Round round) {
  if (round == Round::kRn && dst == FloatType::kF32) {
    if (src == IntType::kS32) return std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(value)));
    if (src == IntType::kU32)
      return std::bit_cast<uint32_t>(static_cast<float>(static_cast<uint32_t>(value)));
  }
  const unsigned width = BitsOf(src);
  if (width < 64) value &= (uint64_t{1} << width) - 1;
  Exact exact;
  exact.negative = IsSigned(src) && ((value >> (width - 1)) & 1) != 0;
  if (exact.negative) {
    value = uint64_t{0} - value;
    if (width < 64) value &= (uint64_t{1} << width) - 1;
  }
  exact.mantissa = value;
  exact.kind = value == 0 ? FloatClass::kZero : FloatClass::kFinite;
  return Result(exact, dst, {.round = round});
}

namespace {

// Where FP64 takes part, a NaN keeps its sign and the high bits of its payload and becomes quiet; an FP32 one
// that FTZ looks at is the canonical one (measured on an H200: tests/silicon).
uint64_t MoveNan(uint64_t bits, const Format& src, const Format& dst) {
  const uint64_t sign = (bits & src.SignBit()) != 0 ? dst.SignBit() : 0;
  const int shift = dst.fraction_bits - src.fraction_bits;
  const uint64_t fraction = bits & src.FractionMask();
  const uint64_t payload = shift >= 0 ? fraction << shift : fraction >> -shift;
  return sign | dst.Infinity() | payload | (dst.FractionMask() + 1) >> 1;
}

bool IsNan(uint64_t bits, const Format& format) {
  return format.has_infinity && (bits & (format.SignBit() - 1)) > format.Infinity();
}

}  // namespace

uint64_t F2f(uint64_t bits, FloatType src, FloatType dst, Round round, bool ftz) {
  if ((src == FloatType::kF64 || dst == FloatType::kF64) && IsNan(bits, FormatOf(src))) {
    return MoveNan(Flushes(src, ftz) ? kNan32 : bits, FormatOf(src), FormatOf(dst));
  }
  if (src == FloatType::kF32 && dst == FloatType::kF16) {
    return Fp32ToFp16(static_cast<uint32_t>(bits), {.round = round, .ftz = ftz});
  }
  return Result(Source(bits, src, ftz), dst, {.round = round, .ftz = Flushes(dst, ftz)});
}

uint64_t Frnd(uint64_t bits, FloatType type, IntRound round, bool ftz) {
  if (type == FloatType::kF64 && IsNan(bits, kFp64Format)) return MoveNan(bits, kFp64Format, kFp64Format);
  Exact exact = Source(bits, type, ftz);
  if (exact.kind == FloatClass::kFinite && exact.exponent < 0) {
    exact.mantissa = RoundShifted(exact, -exact.exponent, AsRound(round));
    exact.exponent = 0;
  }
  return Result(exact, type, {});
}

namespace {

FloatType SourceType(uint32_t field) {
  static constexpr FloatType kTypes[] = {FloatType::kF32, FloatType::kF16, FloatType::kE5m2,
                                         FloatType::kE4m3};
  return kTypes[field & 3];
}

FloatType ResultType(uint32_t field) {
  switch (field) {
    case 1:
      return FloatType::kBf16;
    case 2:
      return FloatType::kTf32;
    case 4:
      return FloatType::kE5m2;
    case 5:
      return FloatType::kE4m3;
    default:
      return FloatType::kF16;
  }
}

uint32_t ConvertOne(uint32_t bits, FloatType src, FloatType dst, F2fpMode mode) {
  if (src == FloatType::kF32 && (dst == FloatType::kF16 || dst == FloatType::kBf16)) {
    const NarrowMode narrow = {.round = mode.round, .relu = mode.relu, .satfinite = mode.satfinite};
    return dst == FloatType::kF16 ? Fp32ToFp16(bits, narrow) : Fp32ToBf16(bits, narrow);
  }
  Exact exact = Source(bits, src, false);
  if (mode.relu && exact.negative && exact.kind != FloatClass::kNan) exact = {};
  return static_cast<uint32_t>(Result(exact, dst, {.round = mode.round, .satfinite = mode.satfinite}));
}

unsigned WidthOf(FloatType type) {
  const Format& format = FormatOf(type);
  return type == FloatType::kTf32 ? 32
                                  : static_cast<unsigned>(1 + format.exponent_bits + format.fraction_bits);
}

uint32_t LowBits(unsigned width) { return width >= 32 ? ~uint32_t{0} : (uint32_t{1} << width) - 1; }

}  // namespace

uint32_t F2fp(uint32_t a, uint32_t b, uint32_t c, F2fpMode mode) {
  enum Merge : uint32_t { kPackAb = 0, kMergeC = 1, kUnpackB = 2, kUnpackBMergeC = 4, kPackAbMergeC = 5 };
  const FloatType src = SourceType(mode.src);
  const FloatType dst = ResultType(mode.dst);
  const unsigned width = WidthOf(dst);
  const unsigned src_width = WidthOf(src);
  if (width == 32) return ConvertOne(b, src, dst, mode);
  uint32_t pair = 0;
  const bool unpacks = mode.merge == kUnpackB || mode.merge == kUnpackBMergeC;
  if (mode.merge == kMergeC) {
    // One number; the half of c that `extract` names is replaced, the other kept.
    const uint32_t one = ConvertOne(b & LowBits(src_width), src, dst, mode);
    const unsigned at = mode.extract != 0 ? width : 0;
    return (c & ~(LowBits(width) << at)) | (one << at);
  }
  if (unpacks) {
    const uint32_t packed = src_width == 8 && mode.extract != 0 ? b >> 16 : b;
    const uint32_t low = ConvertOne(packed & LowBits(src_width), src, dst, mode);
    const uint32_t high = ConvertOne((packed >> src_width) & LowBits(src_width), src, dst, mode);
    pair = (high << width) | low;
  } else {
    pair = (ConvertOne(a & LowBits(src_width), src, dst, mode) << width) |
           ConvertOne(b & LowBits(src_width), src, dst, mode);
  }
  if (mode.merge != kUnpackBMergeC && mode.merge != kPackAbMergeC) return pair;
  // Two FP8 numbers fill one half; the other comes from c.
  if (mode.extract != 0) return (pair << 16) | (c & 0xffffu);
  return (c & 0xffff0000u) | (pair & 0xffffu);
}

}  // namespace sm89::num
