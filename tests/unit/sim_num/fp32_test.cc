#include "sim/num/fp32.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/sim_num/reference.h"

namespace sm89::num {
namespace {

using testing::BitsOfFloat;
using testing::FloatOf;
using testing::Operands;

constexpr uint32_t kOne = 0x3f800000;
constexpr uint32_t kInf = 0x7f800000;
constexpr uint32_t kMinus = 0x80000000;

uint32_t Canonical(float value) { return std::isnan(value) ? kNan32 : BitsOfFloat(value); }

struct HostResult {
  uint32_t sum, product, fused;
};

HostResult OnHost(uint32_t a, uint32_t b, uint32_t c, Round round) {
  const volatile float x = FloatOf(a);
  const volatile float y = FloatOf(b);
  const volatile float z = FloatOf(c);
  std::fesetround(testing::HostRound(round));
  const volatile float sum = x + y;
  const volatile float product = x * y;
  const volatile float fused = std::fma(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z));
  std::fesetround(FE_TONEAREST);
  return {Canonical(sum), Canonical(product), Canonical(fused)};
}

uint32_t Flushed(uint32_t bits) { return (bits & kInf) == 0 ? bits & kMinus : bits; }

TEST(Fp32, AllRoundingModesAgreeWithTheHost) {
  Operands operands(1);
  for (int i = 0; i < 200000; ++i) {
    const auto round = static_cast<Round>(i % 4);
    const uint32_t a = operands.Single();
    const uint32_t b = operands.Single();
    // Every eighth addend nearly cancels the product.
    const uint32_t c = i % 8 < 4 ? operands.Single() : BitsOfFloat(-FloatOf(a) * FloatOf(b));
    const HostResult want = OnHost(a, b, c, round);
    const FpMode mode = {.round = round};
    ASSERT_EQ(Fadd(a, b, mode), want.sum) << std::hex << a << " " << b << " mode " << i % 4;
    ASSERT_EQ(Fmul(a, b, mode), want.product) << std::hex << a << " " << b << " mode " << i % 4;
    ASSERT_EQ(Ffma(a, b, c, mode), want.fused) << std::hex << a << " " << b << " " << c << " mode " << i % 4;
  }
}

TEST(Fp32, LanesAgreeWithTheScalarsInEveryMode) {
  Operands operands(2);
  const FpMode modes[] = {
      {}, {.ftz = true}, {.sat = true}, {.ftz = true, .sat = true}, {.round = Round::kRz}, {.fmz = true}};
  for (int i = 0; i < 3000; ++i) {
    const FpMode mode = modes[i % 6];
    uint32_t a[kLanes];
    uint32_t b[kLanes];
    uint32_t c[kLanes];
    uint32_t d[4][kLanes];
    for (int n = 0; n < kLanes; ++n) {
      a[n] = operands.Single();
      b[n] = operands.Single();
      c[n] = n % 4 != 0 ? operands.Single() : BitsOfFloat(-FloatOf(a[n]) * FloatOf(b[n]));
    }
    FfmaLanesPortable(a, b, c, d[0], mode);
    std::copy_n(d[0], kLanes, d[1]);
    FfmaLanesFused(a, b, c, d[1], mode);  // where the host has no FMA the row stays the portable one
    FaddLanes(a, b, d[2], mode);
    FmulLanes(a, b, d[3], mode);
    for (int n = 0; n < kLanes; ++n) {
      const uint32_t fused = Ffma(a[n], b[n], c[n], mode);
      ASSERT_EQ(d[0][n], fused) << std::hex << a[n] << " " << b[n] << " " << c[n] << " mode " << i % 6;
      ASSERT_EQ(d[1][n], fused) << std::hex << a[n] << " " << b[n] << " " << c[n] << " mode " << i % 6;
      ASSERT_EQ(d[2][n], Fadd(a[n], b[n], mode)) << std::hex << a[n] << " " << b[n] << " mode " << i % 6;
      ASSERT_EQ(d[3][n], Fmul(a[n], b[n], mode)) << std::hex << a[n] << " " << b[n] << " mode " << i % 6;
    }
  }
}

TEST(Fp32, ResultMayOverlayASource) {
  uint32_t row[kLanes];
  uint32_t two[kLanes];
  for (int n = 0; n < kLanes; ++n) {
    row[n] = BitsOfFloat(static_cast<float>(n));
    two[n] = BitsOfFloat(2.0f);
  }
  FfmaLanes(row, two, row, row, {});
  for (int n = 0; n < kLanes; ++n) EXPECT_EQ(FloatOf(row[n]), 3.0f * static_cast<float>(n));
}

TEST(Fp32, FtzFlushesSourcesAndResultsToZerosOfTheirSign) {
  const FpMode ftz = {.ftz = true};
  EXPECT_EQ(Fadd(0x00000001, 0x80000000, ftz), 0u);
  EXPECT_EQ(Fadd(0x80000001, 0x80000001, ftz), kMinus);
  EXPECT_EQ(Fmul(0x00800000, 0xbf000000, ftz), kMinus);  // 2^-126 * -0.5
  EXPECT_EQ(Fmul(0x00800000, 0x3f000000, {}), 0x00400000u);
  Operands operands(3);
  for (int i = 0; i < 20000; ++i) {
    const uint32_t a = operands.Single();
    const uint32_t b = operands.Single();
    const uint32_t c = operands.Single();
    const HostResult want = OnHost(Flushed(a), Flushed(b), Flushed(c), Round::kRn);
    ASSERT_EQ(Ffma(a, b, c, ftz), Flushed(want.fused)) << std::hex << a << " " << b << " " << c;
  }
}

TEST(Fp32, FmzMakesAZeroFactorWin) {
  const FpMode fmz = {.fmz = true};
  EXPECT_EQ(Fmul(0, kInf, fmz), 0u);
  EXPECT_EQ(Fmul(kMinus, kNan32, fmz), 0u);
  EXPECT_EQ(Fmul(0x00000001, kInf, fmz), 0u);
  EXPECT_EQ(Ffma(0, kInf, kOne, fmz), kOne);
  EXPECT_EQ(Fmul(kOne, kInf, fmz), kInf);
  EXPECT_EQ(Fmul(0, kInf, {}), kNan32);
}

TEST(Fp32, SaturationClampsAndTurnsNanIntoZero) {
  const FpMode sat = {.sat = true};
  EXPECT_EQ(Fadd(kOne, kOne, sat), kOne);
  EXPECT_EQ(Fadd(kMinus | kOne, 0, sat), 0u);
  EXPECT_EQ(Fadd(kInf, kMinus | kInf, sat), 0u);
  EXPECT_EQ(Fmul(kMinus, kOne, sat), 0u);
  EXPECT_EQ(Fmul(kOne, 0x3e800000, sat), 0x3e800000u);
}

TEST(Fp32, NanResultsAreCanonical) {
  EXPECT_EQ(Fadd(0xffc12345, kOne, {}), kNan32);
  EXPECT_EQ(Fadd(kInf, kMinus | kInf, {}), kNan32);
  EXPECT_EQ(Ffma(0, kInf, kOne, {}), kNan32);
}

TEST(Fp32, ScaledProductRoundsOnce) {
  EXPECT_EQ(Fmul(kOne, kOne, {}, 3), BitsOfFloat(8.0f));
  EXPECT_EQ(Fmul(kOne, kOne, {}, -1), BitsOfFloat(0.5f));
  // 2^-149 * 1.5 doubled is 3 * 2^-149 exactly; rounding first would give 4.
  EXPECT_EQ(Fmul(0x00000001, BitsOfFloat(1.5f), {}, 1), 0x00000003u);
}

TEST(Fp32, MinMaxFollowsTheNanAndZeroRules) {
  const MinMaxMode minimum = {};
  const MinMaxMode maximum = {.max = true};
  EXPECT_EQ(Fmnmx(kNan32, kOne, minimum), kOne);
  EXPECT_EQ(Fmnmx(kOne, 0xffc00000, maximum), kOne);
  EXPECT_EQ(Fmnmx(0xffc00000, 0x7f800001, maximum), kNan32);
  EXPECT_EQ(Fmnmx(kNan32, kOne, {.nan = true}), kNan32);
  EXPECT_EQ(Fmnmx(0, kMinus, minimum), kMinus);
  EXPECT_EQ(Fmnmx(kMinus, 0, maximum), 0u);
  EXPECT_EQ(Fmnmx(BitsOfFloat(-3.0f), BitsOfFloat(2.0f), {.xorsign = true}), BitsOfFloat(-2.0f));
  EXPECT_EQ(Fmnmx(BitsOfFloat(-3.0f), BitsOfFloat(-2.0f), {.max = true, .xorsign = true}), BitsOfFloat(3.0f));
  EXPECT_EQ(Fmnmx(0x00000001, kMinus | 1, {.ftz = true}), kMinus);
}

TEST(Fp32, MinMaxLanesAgreeWithTheScalars) {
  Operands operands(4);
  for (int i = 0; i < 4000; ++i) {
    const MinMaxMode mode = {(i & 1) != 0, (i & 2) != 0, (i & 4) != 0, (i & 8) != 0};
    uint32_t a[kLanes];
    uint32_t b[kLanes];
    uint32_t d[kLanes];
    for (int n = 0; n < kLanes; ++n) {
      a[n] = operands.Single();
      b[n] = n % 5 != 0 ? operands.Single() : a[n] ^ kMinus;
    }
    FmnmxLanes(a, b, d, mode);
    for (int n = 0; n < kLanes; ++n)
      ASSERT_EQ(d[n], Fmnmx(a[n], b[n], mode)) << std::hex << a[n] << " " << b[n];
  }
}

TEST(Fp32, EveryComparisonCodeMatchesItsName) {
  Operands operands(5);
  for (int i = 0; i < 2000; ++i) {
    uint32_t a[kLanes];
    uint32_t b[kLanes];
    for (int n = 0; n < kLanes; ++n) {
      a[n] = operands.Single();
      b[n] = n % 3 != 0 ? operands.Single() : a[n];
    }
    for (uint32_t code = 0; code < 16; ++code) {
      uint32_t want = 0;
      for (int n = 0; n < kLanes; ++n) {
        const float x = FloatOf(a[n]);
        const float y = FloatOf(b[n]);
        const bool unordered = std::isnan(x) || std::isnan(y);
        const bool holds[] = {false, x<y, x == y, x <= y, x> y, !unordered && x != y, x >= y, !unordered};
        const bool result = code < 8 ? holds[code] : (unordered || holds[code - 8]);
        want |= static_cast<uint32_t>(result) << n;
        ASSERT_EQ(FcmpHolds(code, Fcompare(a[n], b[n], false)), result);
      }
      ASSERT_EQ(FsetpLanes(a, b, code, false), want) << code;
    }
  }
}

TEST(Fp32, ComparisonUnderFtzSeesSubnormalsAsZero) {
  EXPECT_EQ(Fcompare(1, 0, false), Relation::kGreater);
  EXPECT_EQ(Fcompare(1, kMinus | 5, true), Relation::kEqual);
}

TEST(Fp32, DivisionCheckPassesOrdinaryOperandsOnly) {
  EXPECT_FALSE(FchkDivide(BitsOfFloat(1.0f), BitsOfFloat(3.0f)));
  EXPECT_FALSE(FchkDivide(BitsOfFloat(-1e10f), BitsOfFloat(1e-10f)));
  EXPECT_TRUE(FchkDivide(BitsOfFloat(1.0f), 0));
  EXPECT_TRUE(FchkDivide(BitsOfFloat(1.0f), kInf));
  EXPECT_TRUE(FchkDivide(kNan32, kOne));
  EXPECT_TRUE(FchkDivide(BitsOfFloat(3e38f), BitsOfFloat(1e-10f)));
  EXPECT_TRUE(FchkDivide(BitsOfFloat(1e-30f), BitsOfFloat(1e30f)));
}

}  // namespace
}  // namespace sm89::num
