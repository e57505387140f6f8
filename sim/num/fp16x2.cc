#include "sim/num/fp16x2.h"

#include <bit>
#include <cstring>

#include "sim/num/half.h"
#include "sim/num/softfloat.h"

// Bodies that are compiled twice: for the base machine and for AVX2.
#define SM89_NUM_INLINE inline __attribute__((always_inline))

namespace sm89::num {
namespace {

// Numbers of one 16-bit format for the conversions to and from double.
template <bool kBf16>
struct Half {
  static constexpr int kFraction = kBf16 ? 7 : 10;
  static constexpr int kBias = kBf16 ? 127 : 15;
  static constexpr uint32_t kInfinity = kBf16 ? 0x7f80 : 0x7c00;
  static constexpr uint32_t kOne = kBf16 ? 0x3f80 : 0x3c00;
  static constexpr int kDrop = 52 - kFraction;
  // Adding this to a magnitude rounds it to a multiple of the smallest subnormal, whose count is then in the
  // low bits of the sum.
  static constexpr double kSubnormalMagic = kBf16 ? 0x1p-81 : 0x1p28;
  static constexpr double kMinNormal = kBf16 ? 0x1p-126 : 0x1p-14;
};

template <bool kBf16>
SM89_NUM_INLINE double ToDouble(uint32_t half) {
  if constexpr (kBf16) {
    return static_cast<double>(std::bit_cast<float>(half << 16));
  } else {
    const uint32_t magnitude = half & 0x7fffu;
    const uint32_t scaled = (magnitude << 13) + (magnitude >= 0x7c00u ? 224u << 23 : 112u << 23);
    const auto subnormal =
        std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
    const uint32_t bits = (magnitude < 0x0400u ? subnormal : scaled) | ((half & 0x8000u) << 16);
    return static_cast<double>(std::bit_cast<float>(bits));
  }
}

// a * b + c rounded to odd at 53 bits: any later rounding to at most 51 bits is then the rounding of the
// exact value. The product of two halves is exact in double.
SM89_NUM_INLINE double FusedOdd(double a, double b, double c) {
  const double product = a * b;
  const double sum = product + c;
  const double back = sum - product;
  const double error = (product - (sum - back)) + (c - back);
  auto bits = std::bit_cast<int64_t>(sum);
  const int64_t inexact = (error < 0.0) | (error > 0.0);
  const int64_t towards_zero = (error < 0.0) == (sum < 0.0) ? 0 : 1;
  const int64_t step = inexact & ~bits & 1;
  bits += step - ((step & towards_zero) << 1);
  return std::bit_cast<double>(bits);
}

template <bool kBf16>
SM89_NUM_INLINE uint32_t FromDouble(double value) {
  using H = Half<kBf16>;
  const auto bits = std::bit_cast<int64_t>(value);
  const int64_t magnitude = bits & 0x7fffffffffffffff;
  const int64_t odd = (magnitude >> H::kDrop) & 1;
  const int64_t rounded = (magnitude + ((int64_t{1} << (H::kDrop - 1)) - 1) + odd) >> H::kDrop;
  const int64_t normal = rounded - (int64_t{1023 - H::kBias} << H::kFraction);
  const int64_t capped = normal > H::kInfinity ? int64_t{H::kInfinity} : normal;
  const auto shifted = std::bit_cast<int64_t>(std::bit_cast<double>(magnitude) + H::kSubnormalMagic);
  const int64_t subnormal = shifted & 0xffff;
  const int64_t number = magnitude < std::bit_cast<int64_t>(H::kMinNormal) ? subnormal : capped;
  const int64_t signed_number = number | ((bits >> 48) & 0x8000);
  return static_cast<uint32_t>(magnitude > 0x7ff0000000000000 ? int64_t{kNan16} : signed_number);
}

template <bool kBf16>
SM89_NUM_INLINE uint32_t Flushed(uint32_t half) {
  return (half & Half<kBf16>::kInfinity) == 0 ? half & 0x8000u : half;
}

template <bool kBf16>
SM89_NUM_INLINE uint32_t Clamped(uint32_t half, bool sat, bool relu) {
  using H = Half<kBf16>;
  const bool nan = (half & 0x7fffu) > H::kInfinity;
  const bool negative = (half & 0x8000u) != 0;
  if (sat) {
    const uint32_t capped = half > H::kOne ? H::kOne : half;
    return nan || negative ? 0 : capped;
  }
  return relu && negative && !nan ? 0 : half;
}

template <bool kBf16>
SM89_NUM_INLINE uint32_t FmaHalf(uint32_t a, uint32_t b, uint32_t c, HalfMode mode) {
  const bool flush = mode.ftz || mode.fmz;
  const uint32_t x = flush ? Flushed<kBf16>(a) : a;
  const uint32_t y = flush ? Flushed<kBf16>(b) : b;
  const uint32_t z = flush ? Flushed<kBf16>(c) : c;
  double p = ToDouble<kBf16>(x);
  double q = ToDouble<kBf16>(y);
  if (mode.fmz && ((x & 0x7fffu) == 0 || (y & 0x7fffu) == 0)) p = q = 0.0;
  const uint32_t half = FromDouble<kBf16>(FusedOdd(p, q, ToDouble<kBf16>(z)));
  return Clamped<kBf16>(flush ? Flushed<kBf16>(half) : half, mode.sat, mode.relu);
}

template <bool kBf16>
SM89_NUM_INLINE void FmaRow(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d,
                            HalfMode mode) {
  alignas(64) uint32_t source[3][2 * kLanes];
  alignas(64) uint32_t out[2 * kLanes];
  const uint32_t* const rows[3] = {a, b, c};
  for (int operand = 0; operand < 3; ++operand) {
    for (int i = 0; i < kLanes; ++i) {
      source[operand][i] = rows[operand][i] & 0xffffu;
      source[operand][i + kLanes] = rows[operand][i] >> 16;
    }
  }
  for (int i = 0; i < 2 * kLanes; ++i)
    out[i] = FmaHalf<kBf16>(source[0][i], source[1][i], source[2][i], mode);
  for (int i = 0; i < kLanes; ++i) d[i] = out[i] | (out[i + kLanes] << 16);
}

// The modes without flags get their own copy, so that the loop holds no branches.
SM89_NUM_INLINE void FmaRows(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d,
                             HalfMode mode) {
  const bool plain = !mode.ftz && !mode.fmz && !mode.sat && !mode.relu;
  if (mode.out == HalfOut::kBf16) {
    plain ? FmaRow<true>(a, b, c, d, HalfMode{}) : FmaRow<true>(a, b, c, d, mode);
  } else {
    plain ? FmaRow<false>(a, b, c, d, HalfMode{}) : FmaRow<false>(a, b, c, d, mode);
  }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void FmaRowsAvx2(const uint32_t* a, const uint32_t* b, const uint32_t* c,
                                                 uint32_t* d, HalfMode mode) {
  FmaRows(a, b, c, d, mode);
}
bool HasAvx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}
#endif

void FmaRowsBase(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d, HalfMode mode) {
  FmaRows(a, b, c, d, mode);
}

// FP32 result of the low halves of FP16 sources.
uint32_t FmaToSingle(uint32_t a, uint32_t b, uint32_t c, HalfMode mode) {
  const bool flush = mode.ftz || mode.fmz;
  const uint32_t x = flush ? Flushed<false>(a & 0xffffu) : a & 0xffffu;
  const uint32_t y = flush ? Flushed<false>(b & 0xffffu) : b & 0xffffu;
  const uint32_t z = flush ? Flushed<false>(c & 0xffffu) : c & 0xffffu;
  double p = ToDouble<false>(x);
  double q = ToDouble<false>(y);
  if (mode.fmz && ((x & 0x7fffu) == 0 || (y & 0x7fffu) == 0)) p = q = 0.0;
  const auto value = static_cast<float>(FusedOdd(p, q, ToDouble<false>(z)));
  if (value != value) return mode.sat ? 0 : 0x7fffffffu;
  if (mode.sat) return value > 1.0f ? 0x3f800000u : (value > 0.0f ? std::bit_cast<uint32_t>(value) : 0);
  if (mode.relu && std::bit_cast<int32_t>(value) < 0) return 0;
  return std::bit_cast<uint32_t>(value);
}

// Both halves of what leaves c or b unchanged: a * 1 + b and a * b - 0.
uint32_t Ones(HalfMode mode) { return mode.out == HalfOut::kBf16 ? 0x3f803f80u : 0x3c003c00u; }
constexpr uint32_t kMinusZeros = 0x80008000u;

}  // namespace

uint32_t ApplySwizzle(uint32_t value, Swizzle swizzle) {
  const uint32_t low = value & 0xffffu;
  const uint32_t high = value >> 16;
  switch (swizzle) {
    case Swizzle::kH1H0:
      return value;
    case Swizzle::kF32: {
      const uint32_t half = Fp32ToFp16(value);
      return half | (half << 16);
    }
    case Swizzle::kH0H0:
      return low | (low << 16);
    case Swizzle::kH1H1:
      return high | (high << 16);
    case Swizzle::kH0NH1:
      return value ^ 0x80000000u;
  }
  return value;
}

uint32_t Hfma2(uint32_t a, uint32_t b, uint32_t c, HalfMode mode) {
  if (mode.out == HalfOut::kF32) return FmaToSingle(a, b, c, mode);
  const auto one = [mode](uint32_t x, uint32_t y, uint32_t z) {
    return mode.out == HalfOut::kBf16 ? FmaHalf<true>(x, y, z, mode) : FmaHalf<false>(x, y, z, mode);
  };
  return one(a & 0xffffu, b & 0xffffu, c & 0xffffu) | (one(a >> 16, b >> 16, c >> 16) << 16);
}

uint32_t Hadd2(uint32_t a, uint32_t b, HalfMode mode) {
  mode.fmz = false;
  return Hfma2(a, Ones(mode), b, mode);
}

uint32_t Hmul2(uint32_t a, uint32_t b, HalfMode mode) { return Hfma2(a, b, kMinusZeros, mode); }

uint32_t Hmnmx2(uint32_t a, uint32_t b, MinMaxMode mode, bool bf16) {
  const Format& format = bf16 ? kBf16Format : kFp16Format;
  const uint64_t low = MinMaxBits(format, a & 0xffffu, b & 0xffffu, mode);
  const uint64_t high = MinMaxBits(format, a >> 16, b >> 16, mode);
  return static_cast<uint32_t>(low | (high << 16));
}

uint32_t Hcompare2(uint32_t a, uint32_t b, uint32_t code, bool ftz, bool bf16) {
  const Format& format = bf16 ? kBf16Format : kFp16Format;
  const bool low = FcmpHolds(code, CompareBits(format, a & 0xffffu, b & 0xffffu, ftz));
  const bool high = FcmpHolds(code, CompareBits(format, a >> 16, b >> 16, ftz));
  return static_cast<uint32_t>(low) | (static_cast<uint32_t>(high) << 1);
}

uint32_t Hset2Value(uint32_t truth, bool bf, bool bf16) {
  const uint32_t one = bf ? (bf16 ? 0x3f80u : 0x3c00u) : 0xffffu;
  return ((truth & 1) != 0 ? one : 0) | ((truth & 2) != 0 ? one << 16 : 0);
}

void Hfma2Lanes(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d, HalfMode mode) {
  if (mode.out == HalfOut::kF32) {
    for (int i = 0; i < kLanes; ++i) d[i] = FmaToSingle(a[i], b[i], c[i], mode);
    return;
  }
#if defined(__x86_64__)
  if (HasAvx2()) {
    FmaRowsAvx2(a, b, c, d, mode);
    return;
  }
#endif
  FmaRowsBase(a, b, c, d, mode);
}

void Hfma2LanesPortable(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d, HalfMode mode) {
  if (mode.out == HalfOut::kF32) {
    Hfma2Lanes(a, b, c, d, mode);
  } else {
    FmaRowsBase(a, b, c, d, mode);
  }
}

void Hadd2Lanes(const uint32_t* a, const uint32_t* b, uint32_t* d, HalfMode mode) {
  mode.fmz = false;
  alignas(64) uint32_t ones[kLanes];
  for (uint32_t& one : ones) one = Ones(mode);
  Hfma2Lanes(a, ones, b, d, mode);
}

void Hmul2Lanes(const uint32_t* a, const uint32_t* b, uint32_t* d, HalfMode mode) {
  alignas(64) uint32_t zeros[kLanes];
  for (uint32_t& zero : zeros) zero = kMinusZeros;
  Hfma2Lanes(a, b, zeros, d, mode);
}

}  // namespace sm89::num
