// Integer floating point: exact values, rounded once into any format by any rounding mode. Everything that is
// not a round-to-nearest fast path goes through here, so that nothing depends on the host's floating-point
// environment.
#pragma once

#include <bit>
#include <cstdint>

#include "sim/num/mode.h"

namespace sm89::num {

__extension__ using Uint128 = unsigned __int128;

struct Format {
  int exponent_bits = 8;
  int fraction_bits = 23;
  bool has_infinity = true;  // E4M3: the top exponent holds numbers, all ones is NaN
  uint64_t nan = 0x7fffffff;

  constexpr int Bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr int MinExponent() const { return 1 - Bias(); }
  constexpr uint64_t SignBit() const { return uint64_t{1} << (exponent_bits + fraction_bits); }
  constexpr uint64_t FractionMask() const { return (uint64_t{1} << fraction_bits) - 1; }
  constexpr uint64_t ExponentMask() const { return (uint64_t{1} << exponent_bits) - 1; }
  constexpr uint64_t Infinity() const { return ExponentMask() << fraction_bits; }
  constexpr uint64_t MaxFinite() const { return has_infinity ? Infinity() - 1 : (SignBit() - 2); }
  constexpr uint64_t One() const { return static_cast<uint64_t>(Bias()) << fraction_bits; }
};

inline constexpr Format kFp64Format = {11, 52, true, 0xfff8000000000000u};
inline constexpr Format kFp32Format = {8, 23, true, 0x7fffffff};
inline constexpr Format kFp16Format = {5, 10, true, 0x7fff};
inline constexpr Format kBf16Format = {8, 7, true, 0x7fff};
inline constexpr Format kTf32Format = {8, 10, true, 0x3ffff};  // 19 bits; sits in bits 31:13 of a register
inline constexpr Format kE4m3Format = {4, 3, false, 0x7f};
inline constexpr Format kE5m2Format = {5, 2, true, 0x7f};

enum class FloatClass : uint8_t { kZero, kFinite, kInfinity, kNan };

// sign * (mantissa + something below one unit if sticky) * 2^exponent.
struct Exact {
  FloatClass kind = FloatClass::kZero;
  bool negative = false;
  bool sticky = false;
  int exponent = 0;
  Uint128 mantissa = 0;
};

inline int BitWidth(Uint128 value) {
  const auto high = static_cast<uint64_t>(value >> 64);
  return high != 0 ? 64 + std::bit_width(high) : std::bit_width(static_cast<uint64_t>(value));
}

inline Exact Unpack(const Format& format, uint64_t bits, bool ftz = false) {
  Exact exact;
  exact.negative = (bits & format.SignBit()) != 0;
  const uint64_t fraction = bits & format.FractionMask();
  const uint64_t biased = (bits >> format.fraction_bits) & format.ExponentMask();
  if (biased == format.ExponentMask()) {
    if (format.has_infinity) {
      exact.kind = fraction != 0 ? FloatClass::kNan : FloatClass::kInfinity;
      return exact;
    }
    if (fraction == format.FractionMask()) {
      exact.kind = FloatClass::kNan;
      return exact;
    }
  }
  if (biased == 0 && (fraction == 0 || ftz)) return exact;
  exact.kind = FloatClass::kFinite;
  exact.mantissa = biased == 0 ? fraction : fraction | (format.FractionMask() + 1);
  exact.exponent = (biased == 0 ? 1 : static_cast<int>(biased)) - format.Bias() - format.fraction_bits;
  return exact;
}

inline bool RoundsUp(Round round, bool negative, bool odd, bool half, bool below) {
  switch (round) {
    case Round::kRn:
      return half && (below || odd);
    case Round::kRm:
      return negative && (half || below);
    case Round::kRp:
      return !negative && (half || below);
    case Round::kRz:
      return false;
  }
  return false;
}

// `exact` times 2^shift as an integer (shift is what the caller needs to bring the last kept bit to weight
// 1).
inline Uint128 RoundShifted(const Exact& exact, int drop, Round round) {
  if (drop <= 0) {
    const Uint128 kept = drop < -127 ? 0 : exact.mantissa << -drop;
    return kept + (RoundsUp(round, exact.negative, (kept & 1) != 0, false, exact.sticky) ? 1 : 0);
  }
  const Uint128 kept = drop > 127 ? 0 : exact.mantissa >> drop;
  const bool half = drop <= 128 && ((exact.mantissa >> (drop - 1)) & 1) != 0;
  bool below = exact.sticky;
  if (drop > 128) {
    below = below || exact.mantissa != 0;
  } else {
    below = below || (exact.mantissa & ((Uint128{1} << (drop - 1)) - 1)) != 0;
  }
  return kept + (RoundsUp(round, exact.negative, (kept & 1) != 0, half, below) ? 1 : 0);
}

struct PackMode {
  Round round = Round::kRn;
  // A result below the smallest normal number becomes zero. It is judged as if the exponent had no bound:
  // what only rounds up to that number because a subnormal has fewer bits is flushed (measured on an H200:
  // tests/silicon).
  bool ftz = false;
  bool satfinite = false;  // out of range and infinities -> largest finite number
};

inline uint64_t PackOverflow(const Format& format, bool negative, PackMode mode) {
  const uint64_t sign = negative ? format.SignBit() : 0;
  const bool away = mode.round == Round::kRn || (mode.round == Round::kRm && negative) ||
                    (mode.round == Round::kRp && !negative);
  if (mode.satfinite || !away) return sign | format.MaxFinite();
  return format.has_infinity ? sign | format.Infinity() : format.nan;
}

inline uint64_t Pack(const Format& format, const Exact& exact, PackMode mode = {}) {
  const uint64_t sign = exact.negative ? format.SignBit() : 0;
  if (exact.kind == FloatClass::kNan) return format.nan;
  if (exact.kind == FloatClass::kInfinity) {
    if (mode.satfinite) return sign | format.MaxFinite();
    return format.has_infinity ? sign | format.Infinity() : format.nan;
  }
  if (exact.kind == FloatClass::kZero || (exact.mantissa == 0 && !exact.sticky)) return sign;
  const int top = exact.exponent + BitWidth(exact.mantissa) - 1;
  if (mode.ftz && top < format.MinExponent()) {
    const auto unbounded =
        static_cast<uint64_t>(RoundShifted(exact, top - format.fraction_bits - exact.exponent, mode.round));
    const bool carries = unbounded > 2 * format.FractionMask() + 1;
    if (!carries || top + 1 < format.MinExponent()) return sign;
  }
  const int exponent = top < format.MinExponent() ? format.MinExponent() : top;
  if (exponent > format.Bias() + 1) return PackOverflow(format, exact.negative, mode);
  const auto kept = static_cast<uint64_t>(
      RoundShifted(exact, exponent - format.fraction_bits - exact.exponent, mode.round));
  // A carry out of the fraction moves into the exponent by itself.
  const uint64_t magnitude =
      (static_cast<uint64_t>(exponent - format.MinExponent()) << format.fraction_bits) + kept;
  if (magnitude > format.MaxFinite()) return PackOverflow(format, exact.negative, mode);
  return sign | magnitude;
}

// a * b; zero * infinity is NaN. Mantissas have at most 64 bits.
inline Exact Multiply(const Exact& a, const Exact& b) {
  Exact product;
  product.negative = a.negative != b.negative;
  const bool infinite = a.kind == FloatClass::kInfinity || b.kind == FloatClass::kInfinity;
  const bool zero = a.kind == FloatClass::kZero || b.kind == FloatClass::kZero;
  if (a.kind == FloatClass::kNan || b.kind == FloatClass::kNan || (infinite && zero)) {
    product.kind = FloatClass::kNan;
  } else if (infinite) {
    product.kind = FloatClass::kInfinity;
  } else if (!zero) {
    product.kind = FloatClass::kFinite;
    product.mantissa = a.mantissa * b.mantissa;
    product.exponent = a.exponent + b.exponent;
  }
  return product;
}

// Brings the mantissa's top bit to bit 125, so that a sum of two has room for a carry.
inline Exact Normalised(Exact exact) {
  const int shift = 126 - BitWidth(exact.mantissa);
  exact.mantissa <<= shift;
  exact.exponent -= shift;
  return exact;
}

// Sum of two finite numbers, neither sticky. Mantissas of at most 106 bits: what alignment drops is then
// below the last bit that matters even after cancellation, and kept in `sticky`.
inline Exact AddFinite(Exact a, Exact b, Round round) {
  a = Normalised(a);
  b = Normalised(b);
  if (a.exponent < b.exponent || (a.exponent == b.exponent && a.mantissa < b.mantissa)) {
    const Exact swapped = a;
    a = b;
    b = swapped;
  }
  const int distance = a.exponent - b.exponent;
  bool sticky = false;
  if (distance > 127) {
    sticky = true;
    b.mantissa = 0;
  } else if (distance > 0) {
    sticky = (b.mantissa & ((Uint128{1} << distance) - 1)) != 0;
    b.mantissa >>= distance;
  }
  Exact sum = a;
  sum.sticky = sticky;
  if (a.negative == b.negative) {
    sum.mantissa = a.mantissa + b.mantissa;
  } else {
    sum.mantissa = a.mantissa - b.mantissa - (sticky ? 1 : 0);
    if (sum.mantissa == 0 && !sticky) {
      sum.kind = FloatClass::kZero;
      sum.negative = round == Round::kRm;
    }
  }
  return sum;
}

// a + b; exact zero sums of opposite signs are +0 (-0 when rounding down), infinity - infinity is NaN.
inline Exact Add(const Exact& a, const Exact& b, Round round) {
  if (a.kind == FloatClass::kNan || b.kind == FloatClass::kNan) return {.kind = FloatClass::kNan};
  if (a.kind == FloatClass::kInfinity || b.kind == FloatClass::kInfinity) {
    if (a.kind == b.kind && a.negative != b.negative) return {.kind = FloatClass::kNan};
    return a.kind == FloatClass::kInfinity ? a : b;
  }
  if (a.kind == FloatClass::kZero && b.kind == FloatClass::kZero) {
    Exact zero;
    zero.negative = a.negative == b.negative ? a.negative : round == Round::kRm;
    return zero;
  }
  if (a.kind == FloatClass::kZero) return b;
  if (b.kind == FloatClass::kZero) return a;
  return AddFinite(a, b, round);
}

inline Relation CompareBits(const Format& format, uint64_t a, uint64_t b, bool ftz) {
  const auto key = [&](uint64_t bits, bool* nan) -> int64_t {
    const uint64_t magnitude = bits & (format.SignBit() - 1);
    *nan = magnitude > format.Infinity();
    if (magnitude == 0 || (ftz && magnitude <= format.FractionMask())) return 0;
    const auto value = static_cast<int64_t>(magnitude);
    return (bits & format.SignBit()) != 0 ? -value : value;
  };
  bool nan_a = false;
  bool nan_b = false;
  const int64_t x = key(a, &nan_a);
  const int64_t y = key(b, &nan_b);
  if (nan_a || nan_b) return Relation::kUnordered;
  return x < y ? Relation::kLess : (x == y ? Relation::kEqual : Relation::kGreater);
}

inline uint64_t MinMaxBits(const Format& format, uint64_t a, uint64_t b, MinMaxMode mode) {
  const uint64_t sign = format.SignBit();
  const auto flush = [&](uint64_t bits) {
    return mode.ftz && (bits & (sign - 1)) <= format.FractionMask() ? bits & sign : bits;
  };
  const auto is_nan = [&](uint64_t bits) { return (bits & (sign - 1)) > format.Infinity(); };
  a = flush(a);
  b = flush(b);
  const uint64_t result_sign = (a ^ b) & sign;
  uint64_t result = 0;
  if (is_nan(a) || is_nan(b)) {
    if (mode.nan || (is_nan(a) && is_nan(b))) return format.nan;
    result = is_nan(a) ? b : a;
  } else {
    // Flip to an order-preserving unsigned number, which also puts -0 below +0.
    const auto order = [&](uint64_t bits) {
      return (bits & sign) != 0 ? (sign | (sign - 1)) ^ bits : bits | sign;
    };
    const bool a_less = order(mode.xorsign ? a & ~sign : a) < order(mode.xorsign ? b & ~sign : b);
    result = a_less == mode.max ? b : a;
  }
  return mode.xorsign ? (result & ~sign) | result_sign : result;
}

}  // namespace sm89::num
