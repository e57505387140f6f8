#include "sim/num/fp16x2.h"

#include <bit>

#include "sim/num/half.h"
#include "sim/num/half_double.h"
#include "sim/num/softfloat.h"
#include "sim/num/vector.h"

namespace sm89::num {
namespace {

namespace base {
#define SM89_NUM_BODY inline __attribute__((always_inline))
#include "sim/num/half_body.h"
#undef SM89_NUM_BODY
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
#define SM89_NUM_BODY inline __attribute__((always_inline, target("avx2")))
#include "sim/num/half_body.h"
#undef SM89_NUM_BODY
}  // namespace avx2

__attribute__((target("avx2"))) void FmaRowsAvx2(const uint32_t* a, const uint32_t* b, const uint32_t* c,
                                                 uint32_t* d, HalfMode mode) {
  avx2::FmaRows(a, b, c, d, mode);
}
#endif

void FmaRowsBase(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d, HalfMode mode) {
  base::FmaRows(a, b, c, d, mode);
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
    case Swizzle::kH0NH1:  // the names put the high half first: -H1 goes low, as i * (re, im) does
      return low << 16 | (high ^ 0x8000u);
  }
  return value;
}

uint32_t Hfma2(uint32_t a, uint32_t b, uint32_t c, HalfMode mode) {
  const uint32_t x[kLanes] = {a};
  const uint32_t y[kLanes] = {b};
  const uint32_t z[kLanes] = {c};
  uint32_t out[kLanes];
  Hfma2Lanes(x, y, z, out, mode);
  return out[0];
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
#if defined(__x86_64__)
  if (HasAvx2()) {
    FmaRowsAvx2(a, b, c, d, mode);
    return;
  }
#endif
  FmaRowsBase(a, b, c, d, mode);
}

void Hfma2LanesPortable(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d, HalfMode mode) {
  FmaRowsBase(a, b, c, d, mode);
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
