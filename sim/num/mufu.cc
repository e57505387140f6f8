#include "sim/num/mufu.h"

#include <bit>
#include <cmath>

#include "sim/num/half.h"
#include "sim/num/mode.h"
#include "sim/num/vector.h"

namespace sm89::num {
namespace {

constexpr uint32_t kNan = 0x7fffffffu;
constexpr uint32_t kInfinity = 0x7f800000u;
constexpr uint32_t kSign = 0x80000000u;
constexpr double kLn2 = 0.693147180559945309417232121458;
constexpr double kTwoPi = 6.28318530717958647692528676656;

// Adding it to a number rounds that to an integer, which is then in the low bits.
constexpr double kRoundMagic = 0x1.8p52;

bool IsNan(uint32_t bits) { return (bits & ~kSign) > kInfinity; }

// Subnormal results are zeros of their sign, like subnormal sources.
uint32_t Flush(uint32_t bits) { return (bits & kInfinity) == 0 ? bits & kSign : bits; }

uint32_t Rounded(double value) { return Flush(std::bit_cast<uint32_t>(static_cast<float>(value))); }

double AsDouble(uint32_t bits) { return static_cast<double>(std::bit_cast<float>(bits)); }

// 1/k!, k = 0..13.
constexpr double kInverseFactorial[] = {
    1.0,        1.0,         1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,       1.0 / 720,
    1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};

// 2^x for |x| <= 1000; the series' first omitted term is below 2^-56 of the result.
double PowerOfTwo(double x) {
  const double whole = (x + kRoundMagic) - kRoundMagic;
  const double y = (x - whole) * kLn2;
  double sum = kInverseFactorial[13];
  for (int k = 12; k >= 0; --k) sum = sum * y + kInverseFactorial[k];
  const auto exponent = static_cast<uint64_t>(static_cast<int64_t>(whole) + 1023);
  return sum * std::bit_cast<double>(exponent << 52);
}

uint32_t Ex2(uint32_t src) {
  if (IsNan(src)) return kNan;
  const double x = AsDouble(Flush(src));
  if (x >= 128.0) return kInfinity;
  if (x < -126.5) return 0;
  return Rounded(PowerOfTwo(x));
}

uint32_t Lg2(uint32_t src) {
  src = Flush(src);
  if ((src & ~kSign) == 0) return kSign | kInfinity;
  if (IsNan(src) || (src & kSign) != 0) return kNan;
  if (src == kInfinity) return kInfinity;
  // m in [sqrt(1/2), sqrt(2)): log2 m = 2/ln 2 * atanh((m - 1) / (m + 1)).
  const uint32_t offset = src - 0x3f3504f3u;
  const int exponent = static_cast<int32_t>(offset) >> 23;
  const double m = AsDouble((offset & 0x007fffffu) + 0x3f3504f3u);
  const double s = (m - 1.0) / (m + 1.0);
  const double square = s * s;
  double sum = 1.0 / 23;
  for (int k = 21; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return Rounded(static_cast<double>(exponent) + sum * s * (2.0 / kLn2));
}

uint32_t Rcp(uint32_t src) {
  if (IsNan(src)) return kNan;
  src = Flush(src);
  if ((src & ~kSign) == 0) return src | kInfinity;
  return Rounded(1.0 / AsDouble(src));
}

uint32_t Rsq(uint32_t src) {
  if (IsNan(src)) return kNan;
  src = Flush(src);
  if ((src & ~kSign) == 0) return src | kInfinity;
  if ((src & kSign) != 0) return kNan;
  return Rounded(1.0 / std::sqrt(AsDouble(src)));
}

uint32_t Sqrt(uint32_t src) {
  if (IsNan(src)) return kNan;
  src = Flush(src);
  if ((src & ~kSign) == 0) return src;
  if ((src & kSign) != 0) return kNan;
  return Rounded(std::sqrt(AsDouble(src)));
}

// sin(2 pi t) and cos(2 pi t) for |t| <= 1/8 by their series.
double SinTurn(double t) {
  const double y = t * kTwoPi;
  const double square = -(y * y);
  double sum = kInverseFactorial[13];
  for (int k = 11; k >= 1; k -= 2) sum = sum * square + kInverseFactorial[k];
  return sum * y;
}

double CosTurn(double t) {
  const double y = t * kTwoPi;
  const double square = -(y * y);
  double sum = kInverseFactorial[12];
  for (int k = 10; k >= 0; k -= 2) sum = sum * square + kInverseFactorial[k];
  return sum;
}

// `shift` in quarter turns: 0 gives sin(2 pi t), 1 cos(2 pi t).
uint32_t SinCos(uint32_t src, int shift) {
  if ((src & ~kSign) >= kInfinity) return kNan;
  src = Flush(src);
  if (shift == 0 && (src & ~kSign) == 0) return src;
  const double t = AsDouble(src);
  const double quarters = std::floor(t * 4.0 + 0.5);
  const double rest = t - quarters * 0.25;
  // Modulo 4 before the conversion: t may exceed every integer type.
  const double turns = quarters - 4.0 * std::floor(quarters * 0.25);
  const int quadrant = (static_cast<int>(turns) + shift) & 3;
  const double value = (quadrant & 1) != 0 ? CosTurn(rest) : SinTurn(rest);
  return Rounded(quadrant >= 2 ? -value : value);
}

uint32_t Tanh(uint32_t src) {
  if (IsNan(src)) return kNan;
  if ((src & ~kSign) == 0) return src;
  const double x = AsDouble(src);
  const double magnitude = x < 0.0 ? -x : x;
  if (magnitude < 0x1p-12) {
    // Subnormals pass through (PTX tanh.approx).
    return std::bit_cast<uint32_t>(static_cast<float>(x - x * x * x * (1.0 / 3)));
  }
  const uint32_t sign = src & kSign;
  if (magnitude > 16.0) return sign | 0x3f800000u;
  const double power = PowerOfTwo(magnitude * (2.0 / kLn2));
  return sign | Rounded((power - 1.0) / (power + 1.0));
}

// The high word of an FP64 number, rounded to nearest, subnormals flushed.
uint32_t HighWord(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const auto high = static_cast<uint32_t>((bits + 0x7fffffffu + ((bits >> 32) & 1)) >> 32);
  return (high & 0x7ff00000u) == 0 ? high & kSign : high;
}

uint32_t Reciprocal64(uint32_t src, bool root) {
  const uint32_t magnitude = src & ~kSign;
  if (magnitude > 0x7ff00000u) return kNan;
  if (magnitude < 0x00100000u) return (src & kSign) | 0x7ff00000u;
  if (root && (src & kSign) != 0) return kNan;
  const auto value = std::bit_cast<double>(uint64_t{src} << 32);
  return HighWord(1.0 / (root ? std::sqrt(value) : value));
}

namespace base {
#define SM89_NUM_BODY inline __attribute__((always_inline))
#include "sim/num/mufu_body.h"
#undef SM89_NUM_BODY
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
#define SM89_NUM_BODY inline __attribute__((always_inline, target("avx2")))
#include "sim/num/mufu_body.h"
#undef SM89_NUM_BODY
}  // namespace avx2

__attribute__((target("avx2"))) void Ex2RowAvx2(const uint32_t* src, uint32_t* dst) {
  avx2::Ex2Row(src, dst);
}
#endif

void Ex2Row(const uint32_t* src, uint32_t* dst) {
#if defined(__x86_64__)
  if (HasAvx2()) {
    Ex2RowAvx2(src, dst);
    return;
  }
#endif
  base::Ex2Row(src, dst);
}

template <typename Function>
void Apply(const uint32_t* src, uint32_t* dst, Function function) {
  for (int i = 0; i < kLanes; ++i) dst[i] = function(src[i]);
}

}  // namespace

uint32_t Mufu(MufuOp op, uint32_t src) {
  switch (op) {
    case MufuOp::kCos:
      return SinCos(src, 1);
    case MufuOp::kSin:
      return SinCos(src, 0);
    case MufuOp::kEx2:
      return Ex2(src);
    case MufuOp::kLg2:
      return Lg2(src);
    case MufuOp::kRcp:
      return Rcp(src);
    case MufuOp::kRsq:
      return Rsq(src);
    case MufuOp::kRcp64h:
      return Reciprocal64(src, false);
    case MufuOp::kRsq64h:
      return Reciprocal64(src, true);
    case MufuOp::kSqrt:
      return Sqrt(src);
    case MufuOp::kTanh:
      return Tanh(src);
  }
  return kNan;
}

void MufuLanes(MufuOp op, const uint32_t* src, uint32_t* dst) {
  switch (op) {
    case MufuOp::kEx2:
      Ex2Row(src, dst);
      break;
    case MufuOp::kRcp:
      Apply(src, dst, Rcp);
      break;
    case MufuOp::kRsq:
      Apply(src, dst, Rsq);
      break;
    default:
      Apply(src, dst, [op](uint32_t bits) { return Mufu(op, bits); });
      break;
  }
}

uint16_t MufuF16(MufuOp op, uint16_t src) {
  const uint32_t single = Fp16ToFp32(src);
  return Fp32ToFp16(Mufu(op, single));
}

}  // namespace sm89::num
