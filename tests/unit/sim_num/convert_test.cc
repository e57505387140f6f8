#include "sim/num/convert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/num/half.h"
#include "tests/unit/sim_num/reference.h"

namespace sm89::num {
namespace {

using testing::BitsOfDouble;
using testing::BitsOfFloat;
using testing::DoubleOf;
using testing::FloatOf;
using testing::Operands;

constexpr IntType kAllInts[] = {IntType::kU8,  IntType::kS8,  IntType::kU16, IntType::kS16,
                                IntType::kU32, IntType::kS32, IntType::kU64, IntType::kS64};

double Integral(double value, IntRound round) {
  switch (round) {
    case IntRound::kRound:
      return std::nearbyint(value);
    case IntRound::kFloor:
      return std::floor(value);
    case IntRound::kCeil:
      return std::ceil(value);
    case IntRound::kTrunc:
      return std::trunc(value);
  }
  return value;
}

// Saturated, as the register holds it.
uint64_t AsInteger(double value, IntType type) {
  const unsigned width = BitsOf(type);
  const long double low = IsSigned(type) ? -std::ldexp(1.0L, static_cast<int>(width) - 1) : 0.0L;
  const long double high = std::ldexp(1.0L, static_cast<int>(width) - (IsSigned(type) ? 1 : 0)) - 1;
  const long double clamped = std::clamp<long double>(value, low, high);
  const uint64_t bits =
      clamped < 0 ? static_cast<uint64_t>(static_cast<int64_t>(clamped)) : static_cast<uint64_t>(clamped);
  return width == 64 ? bits : bits & 0xffffffffu;
}

TEST(Convert, FloatToIntegerRoundsAndSaturates) {
  Operands operands(41);
  for (int i = 0; i < 60000; ++i) {
    const auto round = static_cast<IntRound>(i % 4);
    const IntType type = kAllInts[i / 4 % 8];
    // Magnitudes around the limits of the integers.
    uint32_t single = operands.Single();
    if (i % 3 != 0)
      single = (single & 0x807fffffu) | ((120 + static_cast<uint32_t>(operands.Raw() % 75)) << 23);
    const float x = FloatOf(single);
    if (!std::isnan(x)) {
      const F2iMode mode = {.src = FloatType::kF32, .dst = type, .round = round};
      ASSERT_EQ(F2i(single, mode), AsInteger(Integral(x, round), type)) << x << " type " << i / 4 % 8;
    }
    const uint64_t bits = (operands.Double() & 0x800fffffffffffffu) |
                          ((1016 + static_cast<uint64_t>(operands.Raw() % 75)) << 52);
    const double y = DoubleOf(bits);
    const F2iMode mode = {.src = FloatType::kF64, .dst = type, .round = round};
    ASSERT_EQ(F2i(bits, mode), AsInteger(Integral(y, round), type)) << y << " type " << i / 4 % 8;
  }
}

TEST(Convert, EveryFp16BecomesItsInteger) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float x = FloatOf(Fp16ToFp32(static_cast<uint16_t>(bits)));
    if (std::isnan(x)) continue;
    for (const IntRound round : {IntRound::kRound, IntRound::kFloor, IntRound::kCeil, IntRound::kTrunc}) {
      const F2iMode mode = {.src = FloatType::kF16, .dst = IntType::kS16, .round = round};
      ASSERT_EQ(F2i(bits, mode), AsInteger(Integral(x, round), IntType::kS16)) << x;
      ASSERT_EQ(FloatOf(Fp16ToFp32(static_cast<uint16_t>(Frnd(bits, FloatType::kF16, round, false)))),
                static_cast<float>(Integral(x, round)));
    }
  }
}

TEST(Convert, NanToInteger) {
  const uint32_t nan = 0x7fc00000;
  EXPECT_EQ(F2i(nan, {.dst = IntType::kS32, .ntz = true}), 0u);
  EXPECT_EQ(F2i(nan, {.dst = IntType::kS64}), 0x8000000000000000u);
  EXPECT_EQ(F2i(nan, {.dst = IntType::kU64}), 0x8000000000000000u);
  EXPECT_EQ(F2i(0x7ff8000000000000u, {.src = FloatType::kF64, .dst = IntType::kU32}), 0x80000000u);
  EXPECT_EQ(F2i(0xfff8000000000000u, {.src = FloatType::kF64, .dst = IntType::kS8}), 0xffffff80u);
}

TEST(Convert, FtzMakesSubnormalsZeroBeforeRounding) {
  EXPECT_EQ(F2i(1, {.round = IntRound::kCeil}), 1u);
  EXPECT_EQ(F2i(1, {.round = IntRound::kCeil, .ftz = true}), 0u);
  EXPECT_EQ(Frnd(1, FloatType::kF32, IntRound::kCeil, true), 0u);
  EXPECT_EQ(Frnd(1, FloatType::kF32, IntRound::kCeil, false), BitsOfFloat(1.0f));
}

TEST(Convert, IntegersToFloatRoundByMode) {
  Operands operands(42);
  for (int i = 0; i < 40000; ++i) {
    const auto round = static_cast<Round>(i % 4);
    const volatile uint64_t value = operands.Raw() >> (operands.Raw() % 64);
    const volatile auto as_signed = static_cast<int64_t>(value);
    const volatile auto word = static_cast<uint32_t>(value);
    std::fesetround(testing::HostRound(round));
    const volatile auto single = static_cast<float>(as_signed);
    const volatile auto twice = static_cast<double>(as_signed);
    const volatile auto of_word = static_cast<float>(static_cast<int64_t>(word));
    std::fesetround(FE_TONEAREST);
    ASSERT_EQ(I2f(value, IntType::kS64, FloatType::kF32, round), BitsOfFloat(single)) << value;
    ASSERT_EQ(I2f(value, IntType::kS64, FloatType::kF64, round), BitsOfDouble(twice)) << value;
    ASSERT_EQ(I2f(value, IntType::kU32, FloatType::kF32, round), BitsOfFloat(of_word)) << value;
  }
  EXPECT_EQ(I2f(0x80000001u, IntType::kS32, FloatType::kF32, Round::kRn), BitsOfFloat(-0x1p31f));
  EXPECT_EQ(I2f(0xffffffffu, IntType::kU32, FloatType::kF32, Round::kRn), BitsOfFloat(0x1p32f));
  EXPECT_EQ(I2f(0xffffffffffffffffu, IntType::kU64, FloatType::kF32, Round::kRn), BitsOfFloat(0x1p64f));
  EXPECT_EQ(I2f(0x80, IntType::kS8, FloatType::kF32, Round::kRn), BitsOfFloat(-128.0f));
  EXPECT_EQ(I2f(0x123480, IntType::kU8, FloatType::kF32, Round::kRn), BitsOfFloat(128.0f));
  EXPECT_EQ(I2f(70000, IntType::kU32, FloatType::kF16, Round::kRn), 0x7c00u);
  EXPECT_EQ(I2f(0x8000, IntType::kS16, FloatType::kF16, Round::kRn), 0xf800u);
}

TEST(Convert, FloatToFloatRoundsOnce) {
  Operands operands(43);
  for (int i = 0; i < 100000; ++i) {
    const auto round = static_cast<Round>(i % 4);
    const uint64_t bits = i % 2 == 0
                              ? operands.Double()
                              : BitsOfDouble(FloatOf(operands.Single())) + (operands.Raw() & 0x3fffffffu);
    const volatile double x = DoubleOf(bits);
    if (std::isnan(static_cast<double>(x))) continue;
    std::fesetround(testing::HostRound(round));
    const volatile auto single = static_cast<float>(x);
    std::fesetround(FE_TONEAREST);
    ASSERT_EQ(F2f(bits, FloatType::kF64, FloatType::kF32, round, false), BitsOfFloat(single))
        << std::hex << bits;
  }
  // Just above a tie of FP16: rounding through FP32 first would give 1.
  EXPECT_EQ(F2f(BitsOfDouble(1.0 + 0x1p-11 + 0x1p-40), FloatType::kF64, FloatType::kF16, Round::kRn, false),
            0x3c01u);
  EXPECT_EQ(F2f(0x7fc00001, FloatType::kF32, FloatType::kF16, Round::kRn, false), 0x7fffu);
  EXPECT_EQ(F2f(1, FloatType::kF32, FloatType::kF64, Round::kRn, false), BitsOfDouble(0x1p-149));
  EXPECT_EQ(F2f(1, FloatType::kF32, FloatType::kF64, Round::kRn, true), 0u);
  EXPECT_EQ(F2f(BitsOfDouble(0x1p-140), FloatType::kF64, FloatType::kF32, Round::kRn, true), 0u);
}

TEST(Convert, FrndMatchesTheLibrary) {
  Operands operands(44);
  for (int i = 0; i < 50000; ++i) {
    const auto round = static_cast<IntRound>(i % 4);
    const uint32_t single = operands.Single();
    const float x = FloatOf(single);
    if (!std::isnan(x)) {
      ASSERT_EQ(Frnd(single, FloatType::kF32, round, false),
                BitsOfFloat(static_cast<float>(Integral(x, round))));
    }
    const uint64_t bits = operands.Double();
    const double y = DoubleOf(bits);
    if (!std::isnan(y)) {
      ASSERT_EQ(Frnd(bits, FloatType::kF64, round, false), BitsOfDouble(Integral(y, round)));
    }
  }
  EXPECT_EQ(Frnd(0xffc00000, FloatType::kF32, IntRound::kTrunc, false), 0x7fffffffu);
}

TEST(Convert, F2fpPacksRaHighAndRbLow) {
  const uint32_t one = BitsOfFloat(1.0f);
  const uint32_t minus_two = BitsOfFloat(-2.0f);
  EXPECT_EQ(F2fp(one, minus_two, 0, {.dst = 0}), 0x3c00c000u);
  EXPECT_EQ(F2fp(one, minus_two, 0, {.dst = 1}), 0x3f80c000u);
  EXPECT_EQ(F2fp(one, minus_two, 0, {.dst = 1, .relu = true}), 0x3f800000u);
  EXPECT_EQ(F2fp(0, BitsOfFloat(65535.0f), 0, {.round = Round::kRz}), 0x7bffu);
  EXPECT_EQ(F2fp(0, BitsOfFloat(1e9f), 0, {.satfinite = true}), 0x7bffu);
  EXPECT_EQ(F2fp(0, one, 0xabcd1234, {.dst = 1, .merge = 1}), 0xabcd3f80u);
}

TEST(Convert, F2fpHandlesFp8Pairs) {
  const uint32_t one = BitsOfFloat(1.0f);
  const uint32_t big = BitsOfFloat(1e6f);
  EXPECT_EQ(F2fp(one, big, 0xdead0000, {.dst = 5, .merge = 5, .satfinite = true}), 0xdead387eu);
  EXPECT_EQ(F2fp(one, big, 0x0000beef, {.dst = 5, .merge = 5, .extract = 1, .satfinite = true}), 0x387ebeefu);
  EXPECT_EQ(F2fp(one, big, 0, {.dst = 4, .merge = 5, .satfinite = true}), 0x3c7bu);
  // E4M3 0x38 = 1, 0xb8 = -1, 0x7e = 448.
  EXPECT_EQ(F2fp(0, 0x7e38b838, 0, {.dst = 0, .src = 3, .merge = 2}), 0xbc003c00u);
  EXPECT_EQ(F2fp(0, 0x7e38b838, 0, {.dst = 0, .src = 3, .merge = 2, .extract = 1}), 0x5f003c00u);
  EXPECT_EQ(F2fp(0, 0x3c3c, 0, {.dst = 0, .src = 2, .merge = 2}), 0x3c003c00u);
  EXPECT_EQ(F2fp(0, 0xbc003c00, 0x55550000, {.dst = 5, .src = 1, .merge = 4, .satfinite = true}),
            0x5555b838u);
}

}  // namespace
}  // namespace sm89::num
