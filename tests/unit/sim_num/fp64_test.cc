#include "sim/num/fp64.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/sim_num/reference.h"

namespace sm89::num {
namespace {

using testing::BitsOfDouble;
using testing::DoubleOf;
using testing::Operands;

constexpr uint64_t kInf = 0x7ff0000000000000u;
constexpr uint64_t kMinus = 0x8000000000000000u;

uint64_t Canonical(double value) { return std::isnan(value) ? kNan64 : BitsOfDouble(value); }

TEST(Fp64, AllRoundingModesAgreeWithTheHost) {
  Operands operands(11);
  for (int i = 0; i < 200000; ++i) {
    const auto round = static_cast<Round>(i % 4);
    const uint64_t a = operands.Double();
    const uint64_t b = operands.Double();
    const uint64_t c = i % 8 < 4 ? operands.Double() : BitsOfDouble(-DoubleOf(a) * DoubleOf(b));
    if (std::isnan(DoubleOf(a)) || std::isnan(DoubleOf(b)) || std::isnan(DoubleOf(c))) continue;
    const volatile double x = DoubleOf(a);
    const volatile double y = DoubleOf(b);
    const volatile double z = DoubleOf(c);
    std::fesetround(testing::HostRound(round));
    const volatile double sum = x + y;
    const volatile double product = x * y;
    const volatile double fused =
        std::fma(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z));
    std::fesetround(FE_TONEAREST);
    ASSERT_EQ(Dadd(a, b, round), Canonical(sum)) << std::hex << a << " " << b << " mode " << i % 4;
    ASSERT_EQ(Dmul(a, b, round), Canonical(product)) << std::hex << a << " " << b << " mode " << i % 4;
    ASSERT_EQ(Dfma(a, b, c, round), Canonical(fused))
        << std::hex << a << " " << b << " " << c << " mode " << i % 4;
  }
}

TEST(Fp64, NanPayloadsOfSourcesSurviveQuieted) {
  const uint64_t signalling = 0x7ff0000000001234u;
  for (const Round round : {Round::kRn, Round::kRz}) {
    EXPECT_EQ(Dadd(0, signalling, round), 0x7ff8000000001234u);
    EXPECT_EQ(Dmul(signalling, 0, round), 0x7ff8000000001234u);
    EXPECT_EQ(Dfma(0, kInf, signalling, round), 0x7ff8000000001234u);
    EXPECT_EQ(Dadd(kInf, kInf | kMinus, round), kNan64);
    EXPECT_EQ(Dmul(0, kInf, round), kNan64);
  }
}

TEST(Fp64, MinMaxAndCompare) {
  const uint64_t one = BitsOfDouble(1.0);
  const uint64_t minus_two = BitsOfDouble(-2.0);
  EXPECT_EQ(Dmnmx(one, minus_two, {}), minus_two);
  EXPECT_EQ(Dmnmx(one, minus_two, {.max = true}), one);
  EXPECT_EQ(Dmnmx(kNan64, minus_two, {.max = true}), minus_two);
  EXPECT_EQ(Dcompare(one, minus_two), Relation::kGreater);
  EXPECT_EQ(Dcompare(0, kMinus), Relation::kEqual);
  EXPECT_EQ(Dcompare(kInf | kMinus, 1), Relation::kLess);
  EXPECT_EQ(Dcompare(one, kNan64), Relation::kUnordered);
}

}  // namespace
}  // namespace sm89::num
