// 32-lane FP32 arithmetic. Every loop fills a local row first, so that the result may overlay a source and
// the compiler still sees no aliasing.
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "sim/num/fp32.h"

#if defined(__x86_64__)
#define SM89_NUM_X86 1
#else
#define SM89_NUM_X86 0
#endif

namespace sm89::num {
namespace {

struct alignas(64) Row {
  uint32_t at[kLanes];
};

float AsFloat(uint32_t bits) { return std::bit_cast<float>(bits); }

uint32_t Canonical(float value) { return value != value ? kNan32 : std::bit_cast<uint32_t>(value); }

uint32_t FlushBits(uint32_t bits) { return (bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits; }

uint32_t SaturateBits(uint32_t bits) {
  const uint32_t capped = bits > 0x3f800000u ? 0x3f800000u : bits;
  return (bits & 0x80000000u) != 0 || bits > 0x7f800000u ? 0 : capped;
}

void Store(const Row& row, uint32_t* d) { std::memcpy(d, row.at, sizeof(row.at)); }

Row Load(const uint32_t* source) {
  Row row;
  std::memcpy(row.at, source, sizeof(row.at));
  return row;
}

void FlushRow(Row* row) {
  for (uint32_t& bits : row->at) bits = FlushBits(bits);
}

void SaturateRow(Row* row) {
  for (uint32_t& bits : row->at) bits = SaturateBits(bits);
}

// Sources of the round-to-nearest paths, flushed if asked.
Row Source(const uint32_t* source, FpMode mode) {
  Row row = Load(source);
  if (mode.ftz) FlushRow(&row);
  return row;
}

void Finish(Row* row, uint32_t* d, FpMode mode) {
  if (mode.ftz) FlushRow(row);
  if (mode.sat) SaturateRow(row);
  Store(*row, d);
}

bool IsFast(FpMode mode) { return mode.round == Round::kRn && !mode.fmz; }

void FmaSlow(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d, FpMode mode) {
  Row out;
  for (int i = 0; i < kLanes; ++i) out.at[i] = Ffma(a[i], b[i], c[i], mode);
  Store(out, d);
}

// a * b is exact in double. Its sum with c is made round-to-odd (Boldo and Melquiond): with the error term of
// the sum known, an even last bit of an inexact sum is stepped towards the exact value; 53 bits then round to
// 24 (or fewer, for subnormals) as the exact value would.
uint32_t FusedByOdd(float a, float b, float c) {
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
  return Canonical(static_cast<float>(std::bit_cast<double>(bits)));
}

void FmaBodyPortable(const Row& a, const Row& b, const Row& c, Row* out) {
  for (int i = 0; i < kLanes; ++i)
    out->at[i] = FusedByOdd(AsFloat(a.at[i]), AsFloat(b.at[i]), AsFloat(c.at[i]));
}

#if SM89_NUM_X86
__attribute__((target("avx2,fma"))) void FmaBodyFused(const Row& a, const Row& b, const Row& c, Row* out) {
  for (int i = 0; i < kLanes; ++i) {
    const float value = __builtin_fmaf(std::bit_cast<float>(a.at[i]), std::bit_cast<float>(b.at[i]),
                                       std::bit_cast<float>(c.at[i]));
    out->at[i] = value != value ? kNan32 : std::bit_cast<uint32_t>(value);
  }
}

bool HostFuses() {
  static const bool fuses = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  return fuses;
}
#endif

}  // namespace

void FaddLanes(const uint32_t* a, const uint32_t* b, uint32_t* d, FpMode mode) {
  Row out;
  if (!IsFast(mode)) {
    for (int i = 0; i < kLanes; ++i) out.at[i] = Fadd(a[i], b[i], mode);
    Store(out, d);
    return;
  }
  const Row x = Source(a, mode);
  const Row y = Source(b, mode);
  for (int i = 0; i < kLanes; ++i) out.at[i] = Canonical(AsFloat(x.at[i]) + AsFloat(y.at[i]));
  Finish(&out, d, mode);
}

void FmulLanes(const uint32_t* a, const uint32_t* b, uint32_t* d, FpMode mode) {
  Row out;
  if (!IsFast(mode)) {
    for (int i = 0; i < kLanes; ++i) out.at[i] = Fmul(a[i], b[i], mode);
    Store(out, d);
    return;
  }
  const Row x = Source(a, mode);
  const Row y = Source(b, mode);
  for (int i = 0; i < kLanes; ++i) out.at[i] = Canonical(AsFloat(x.at[i]) * AsFloat(y.at[i]));
  Finish(&out, d, mode);
}

void FfmaLanesPortable(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d, FpMode mode) {
  if (!IsFast(mode)) {
    FmaSlow(a, b, c, d, mode);
    return;
  }
  Row out;
  FmaBodyPortable(Source(a, mode), Source(b, mode), Source(c, mode), &out);
  Finish(&out, d, mode);
}

bool FfmaLanesFused(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d, FpMode mode) {
#if SM89_NUM_X86
  if (!HostFuses()) return false;
  if (!IsFast(mode)) {
    FmaSlow(a, b, c, d, mode);
    return true;
  }
  Row out;
  FmaBodyFused(Source(a, mode), Source(b, mode), Source(c, mode), &out);
  Finish(&out, d, mode);
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
  Row out;
  if (mode.xorsign) {
    for (int i = 0; i < kLanes; ++i) out.at[i] = Fmnmx(a[i], b[i], mode);
    Store(out, d);
    return;
  }
  const Row x = Source(a, {.ftz = mode.ftz});
  const Row y = Source(b, {.ftz = mode.ftz});
  const uint32_t flip = mode.max ? 0xffffffffu : 0;
  const uint32_t nan_wins = mode.nan ? 0xffffffffu : 0;
  for (int i = 0; i < kLanes; ++i) {
    // Signed numbers in the order of the floats, with -0 below +0; the complement turns max into min.
    const auto order = [flip](uint32_t bits) {
      const uint32_t key = bits ^ ((0u - (bits >> 31)) >> 1);
      return static_cast<int32_t>(key ^ flip);
    };
    const uint32_t p = x.at[i];
    const uint32_t q = y.at[i];
    const uint32_t p_nan = 0u - static_cast<uint32_t>((p & 0x7fffffffu) > 0x7f800000u);
    const uint32_t q_nan = 0u - static_cast<uint32_t>((q & 0x7fffffffu) > 0x7f800000u);
    const uint32_t take_p = 0u - static_cast<uint32_t>(order(p) < order(q));
    const uint32_t pick_p = (take_p | q_nan) & ~p_nan;
    const uint32_t nan = (p_nan & q_nan) | ((p_nan | q_nan) & nan_wins);
    out.at[i] = (((p & pick_p) | (q & ~pick_p)) & ~nan) | (kNan32 & nan);
  }
  Store(out, d);
}

uint32_t FsetpLanes(const uint32_t* a, const uint32_t* b, uint32_t code, bool ftz) {
  const Row x = Source(a, {.ftz = ftz});
  const Row y = Source(b, {.ftz = ftz});
  Row holds;
  for (int i = 0; i < kLanes; ++i) {
    const float p = AsFloat(x.at[i]);
    const float q = AsFloat(y.at[i]);
    const uint32_t less = p < q;
    const uint32_t equal = p == q;
    const uint32_t greater = p > q;
    const uint32_t unordered = 1u ^ (less | equal | greater);
    holds.at[i] = ((less | (equal << 1) | (greater << 2) | (unordered << 3)) & code) != 0;
  }
  uint32_t mask = 0;
  for (int i = 0; i < kLanes; ++i) mask |= holds.at[i] << i;
  return mask;
}

}  // namespace sm89::num
