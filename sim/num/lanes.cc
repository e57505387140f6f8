// 32-lane FP32 arithmetic, eight lanes at a time. Each vector of a source is read before the same lanes of
// the result are written, so the result may overlay a source row.
#include <bit>
#include <cstring>

#include "sim/num/fp32.h"
#include "sim/num/vector.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define SM89_NUM_X86 1
#else
#define SM89_NUM_X86 0
#endif

namespace sm89::num {
namespace {

namespace base {
#define SM89_NUM_BODY inline __attribute__((always_inline))
#include "sim/num/lanes_body.h"
#undef SM89_NUM_BODY
}  // namespace base

#if SM89_NUM_X86
namespace avx2 {
#define SM89_NUM_BODY inline __attribute__((always_inline, target("avx2,fma")))
#include "sim/num/lanes_body.h"
#undef SM89_NUM_BODY
}  // namespace avx2
#endif

bool IsFast(FpMode mode) { return mode.round == Round::kRn && !mode.fmz; }

void FmaSlow(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d, FpMode mode) {
  for (int i = 0; i < kLanes; ++i) d[i] = Ffma(a[i], b[i], c[i], mode);
}

// a * b is exact in double. Its sum with c is made round-to-odd (Boldo and Melquiond): with the error term of
// the sum known, an even last bit of an inexact sum is stepped towards the exact value; 53 bits then round to
// 24 (or fewer, for subnormals) as the exact value would.
float FusedByOdd(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = static_cast<double>(c);
  const double sum = product + addend;
  const double back = sum - product;
  const double error = (product - (sum - back)) + (addend - back);
  auto bits = std::bit_cast<int64_t>(sum);
  const int64_t inexact = (error < 0.0) | (error > 0.0);  // false for the NaN error of infinities
  const int64_t towards_zero = (error < 0.0) == (sum < 0.0) ? 0 : 1;
  const int64_t step = inexact & ~bits & 1;
  bits += step - ((step & towards_zero) << 1);
  return static_cast<float>(std::bit_cast<double>(bits));
}

void FmaPortable(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d, FpMode mode) {
  for (int i = 0; i < kLanes; i += 8) {
    F32x8 x;
    F32x8 y;
    F32x8 z;
    base::LoadSource(a + i, mode.ftz, &x);
    base::LoadSource(b + i, mode.ftz, &y);
    base::LoadSource(c + i, mode.ftz, &z);
    F32x8 value;
    for (int n = 0; n < 8; ++n) value[n] = FusedByOdd(x[n], y[n], z[n]);
    if (mode.ftz) {
      F32x8 scaled;
      for (int n = 0; n < 8; ++n) scaled[n] = FusedByOdd(x[n] * 0x1p64f, y[n], z[n] * 0x1p64f);
      base::FlushRoundedUp(scaled, &value);
    }
    base::Finish(value, mode, d + i);
  }
}

#if SM89_NUM_X86
#define SM89_NUM_AVX2 __attribute__((target("avx2,fma")))

SM89_NUM_AVX2 inline __attribute__((always_inline)) void FmaLoop(const uint32_t* a, const uint32_t* b,
                                                                 const uint32_t* c, uint32_t* d,
                                                                 FpMode mode) {
  for (int i = 0; i < kLanes; i += 8) {
    F32x8 x;
    F32x8 y;
    F32x8 z;
    avx2::LoadSource(a + i, mode.ftz, &x);
    avx2::LoadSource(b + i, mode.ftz, &y);
    avx2::LoadSource(c + i, mode.ftz, &z);
    F32x8 value = _mm256_fmadd_ps(x, y, z);
    if (mode.ftz) avx2::FlushRoundedUp(_mm256_fmadd_ps(x * 0x1p64f, y, z * 0x1p64f), &value);
    avx2::Finish(value, mode, d + i);
  }
}

SM89_NUM_AVX2 void FmaFused(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d,
                            FpMode mode) {
  if (!mode.ftz && !mode.sat) {
    FmaLoop(a, b, c, d, FpMode{});
  } else {
    FmaLoop(a, b, c, d, mode);
  }
}

SM89_NUM_AVX2 void AddAvx2(const uint32_t* a, const uint32_t* b, uint32_t* d, FpMode mode) {
  avx2::Binary<avx2::BinaryOp::kAdd>(a, b, d, mode);
}

SM89_NUM_AVX2 void MulAvx2(const uint32_t* a, const uint32_t* b, uint32_t* d, FpMode mode) {
  avx2::Binary<avx2::BinaryOp::kMul>(a, b, d, mode);
}

SM89_NUM_AVX2 void MinMaxAvx2(const uint32_t* a, const uint32_t* b, uint32_t* d, MinMaxMode mode) {
  avx2::MinMaxBody(a, b, d, mode);
}

SM89_NUM_AVX2 uint32_t CompareAvx2(const uint32_t* a, const uint32_t* b, uint32_t code, bool ftz) {
  return avx2::CompareBody(a, b, code, ftz);
}

bool HostIsWide() {
  static const bool wide = HasAvx2() && __builtin_cpu_supports("fma") != 0;
  return wide;
}
#endif

}  // namespace

void FaddLanes(const uint32_t* a, const uint32_t* b, uint32_t* d, FpMode mode) {
  if (!IsFast(mode)) {
    for (int i = 0; i < kLanes; ++i) d[i] = Fadd(a[i], b[i], mode);
    return;
  }
#if SM89_NUM_X86
  if (HostIsWide()) {
    AddAvx2(a, b, d, mode);
    return;
  }
#endif
  base::Binary<base::BinaryOp::kAdd>(a, b, d, mode);
}

void FmulLanes(const uint32_t* a, const uint32_t* b, uint32_t* d, FpMode mode) {
  if (!IsFast(mode)) {
    for (int i = 0; i < kLanes; ++i) d[i] = Fmul(a[i], b[i], mode);
    return;
  }
#if SM89_NUM_X86
  if (HostIsWide()) {
    MulAvx2(a, b, d, mode);
    return;
  }
#endif
  base::Binary<base::BinaryOp::kMul>(a, b, d, mode);
}

void FfmaLanesPortable(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d, FpMode mode) {
  if (IsFast(mode)) {
    FmaPortable(a, b, c, d, mode);
  } else {
    FmaSlow(a, b, c, d, mode);
  }
}

bool FfmaLanesFused(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d, FpMode mode) {
#if SM89_NUM_X86
  if (!HostIsWide()) return false;
  if (IsFast(mode)) {
    FmaFused(a, b, c, d, mode);
  } else {
    FmaSlow(a, b, c, d, mode);
  }
  return true;
#else
  static_cast<void>(a), static_cast<void>(b), static_cast<void>(c), static_cast<void>(d),
      static_cast<void>(mode);
  return false;
#endif
}

void FfmaLanes(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d, FpMode mode) {
  if (!FfmaLanesFused(a, b, c, d, mode)) FfmaLanesPortable(a, b, c, d, mode);
}

void FmnmxLanes(const uint32_t* a, const uint32_t* b, uint32_t* d, MinMaxMode mode) {
  if (mode.xorsign) {
    for (int i = 0; i < kLanes; ++i) d[i] = Fmnmx(a[i], b[i], mode);
    return;
  }
#if SM89_NUM_X86
  if (HostIsWide()) {
    MinMaxAvx2(a, b, d, mode);
    return;
  }
#endif
  base::MinMaxBody(a, b, d, mode);
}

uint32_t FsetpLanes(const uint32_t* a, const uint32_t* b, uint32_t code, bool ftz) {
#if SM89_NUM_X86
  if (HostIsWide()) return CompareAvx2(a, b, code, ftz);
#endif
  return base::CompareBody(a, b, code, ftz);
}

}  // namespace sm89::num
