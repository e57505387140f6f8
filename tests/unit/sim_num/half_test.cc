#include "sim/num/half.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/sim_num/reference.h"

namespace sm89::num {
namespace {

using testing::BitsOfFloat;
using testing::FloatOf;
using testing::MakeTable;
using testing::Operands;
using testing::RoundByTable;
using testing::Table;

TEST(Half, EveryFp16AndBf16WidensToItsValueAndComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const int sign = (bits & 0x8000) != 0 ? -1 : 1;
    const int exponent = static_cast<int>((bits >> 10) & 31);
    const int fraction = static_cast<int>(bits & 0x3ff);
    const float fp16 = FloatOf(Fp16ToFp32(half));
    if (exponent == 31) {
      ASSERT_TRUE(fraction != 0 ? BitsOfFloat(fp16) == 0x7fffffffu : std::isinf(fp16)) << bits;
    } else {
      const double want =
          exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
      ASSERT_EQ(fp16, sign * want) << bits;
      ASSERT_EQ(std::signbit(fp16), sign < 0) << bits;
    }
    ASSERT_EQ(Fp32ToFp16(BitsOfFloat(fp16)), std::isnan(fp16) ? kNan16 : half);
    const float bf16 = FloatOf(Bf16ToFp32(half));
    if (!std::isnan(bf16)) {
      ASSERT_EQ(BitsOfFloat(bf16), bits << 16);
    }
    ASSERT_EQ(Fp32ToBf16(BitsOfFloat(bf16)), std::isnan(bf16) ? kNan16 : half);
  }
}

TEST(Half, AllFp8NumbersAreThoseOfTheOcpTables) {
  for (uint32_t bits = 0; bits < 256; ++bits) {
    const double sign = (bits & 0x80) != 0 ? -1 : 1;
    const float e4m3 = FloatOf(E4m3ToFp32(static_cast<uint8_t>(bits)));
    const int e4 = static_cast<int>((bits >> 3) & 15);
    const int m3 = static_cast<int>(bits & 7);
    if (e4 == 15 && m3 == 7) {
      EXPECT_TRUE(std::isnan(e4m3));
    } else {
      EXPECT_EQ(e4m3, sign * (e4 == 0 ? std::ldexp(m3, -9) : std::ldexp(8 + m3, e4 - 10))) << bits;
      EXPECT_EQ(Fp32ToE4m3(BitsOfFloat(e4m3)), bits);
    }
    const float e5m2 = FloatOf(E5m2ToFp32(static_cast<uint8_t>(bits)));
    const int e5 = static_cast<int>((bits >> 2) & 31);
    const int m2 = static_cast<int>(bits & 3);
    if (e5 == 31) {
      EXPECT_TRUE(m2 != 0 ? std::isnan(e5m2) : std::isinf(e5m2));
    } else {
      EXPECT_EQ(e5m2, sign * (e5 == 0 ? std::ldexp(m2, -16) : std::ldexp(4 + m2, e5 - 17))) << bits;
      EXPECT_EQ(Fp32ToE5m2(BitsOfFloat(e5m2)), bits);
    }
  }
  EXPECT_EQ(FloatOf(E4m3ToFp32(0x7e)), 448.0f);
  EXPECT_EQ(FloatOf(E5m2ToFp32(0x7b)), 57344.0f);
}

struct Narrowing {
  const char* name;
  Table table;
  uint32_t sign_bit;
  bool infinity;
  uint32_t (*convert)(uint32_t, NarrowMode);
};

std::vector<Narrowing> Narrowings() {
  std::vector<Narrowing> all;
  all.push_back({"fp16", MakeTable(5, 10, 0x7c00), 0x8000, true,
                 [](uint32_t x, NarrowMode m) -> uint32_t { return Fp32ToFp16(x, m); }});
  all.push_back({"bf16", MakeTable(8, 7, 0x7f80), 0x8000, true,
                 [](uint32_t x, NarrowMode m) -> uint32_t { return Fp32ToBf16(x, m); }});
  all.push_back({"e4m3", MakeTable(4, 3, 0x7f), 0x80, false,
                 [](uint32_t x, NarrowMode m) -> uint32_t { return Fp32ToE4m3(x, m); }});
  all.push_back({"e5m2", MakeTable(5, 2, 0x7c), 0x80, true,
                 [](uint32_t x, NarrowMode m) -> uint32_t { return Fp32ToE5m2(x, m); }});
  all.push_back({"tf32", MakeTable(8, 10, 0x3fc00), 0x40000, true,
                 [](uint32_t x, NarrowMode m) -> uint32_t { return Fp32ToTf32(x, m) >> 13; }});
  return all;
}

TEST(Half, NarrowingRoundsToTheNeighbourThatTheModeNames) {
  Operands operands(21);
  for (const Narrowing& format : Narrowings()) {
    const auto largest = static_cast<double>(format.table.back().first);
    for (int i = 0; i < 40000; ++i) {
      const auto round = static_cast<Round>(i % 4);
      uint32_t x = operands.Single();
      if (i % 3 == 0) x = BitsOfFloat(static_cast<float>(std::fmod(FloatOf(x), 1.1 * largest)));
      const float value = FloatOf(x);
      if (!std::isfinite(value)) continue;
      const bool negative = std::signbit(value);
      const uint32_t magnitude = RoundByTable(format.table, value, negative, round);
      if (!format.infinity && magnitude > format.table.back().second) {
        ASSERT_EQ(format.convert(x, {.round = round}), uint32_t{kNanFp8}) << format.name << " " << value;
      } else {
        const uint32_t want = magnitude | (negative ? format.sign_bit : 0);
        ASSERT_EQ(format.convert(x, {.round = round}), want)
            << format.name << " " << value << " mode " << i % 4;
      }
      if (magnitude > format.table.back().second) {
        const uint32_t finite = format.table.back().second | (negative ? format.sign_bit : 0);
        ASSERT_EQ(format.convert(x, {.round = round, .satfinite = true}), finite)
            << format.name << " " << value;
      }
    }
  }
}

TEST(Half, TiesGoToEven) {
  EXPECT_EQ(Fp32ToFp16(BitsOfFloat(2049.0f)), Fp32ToFp16(BitsOfFloat(2048.0f)));
  EXPECT_EQ(Fp32ToFp16(BitsOfFloat(2051.0f)), Fp32ToFp16(BitsOfFloat(2052.0f)));
  EXPECT_EQ(Fp32ToFp16(BitsOfFloat(65519.0f)), 0x7bffu);
  EXPECT_EQ(Fp32ToFp16(BitsOfFloat(65520.0f)), 0x7c00u);
  EXPECT_EQ(Fp32ToE4m3(BitsOfFloat(464.0f)), 0x7eu);
  EXPECT_EQ(Fp32ToE4m3(BitsOfFloat(465.0f)), kNanFp8);
}

TEST(Half, ReluSatfiniteAndNan) {
  const uint32_t nan = 0xffc00001;
  const NarrowMode relu = {.relu = true};
  EXPECT_EQ(Fp32ToFp16(BitsOfFloat(-1.0f), relu), 0u);
  EXPECT_EQ(Fp32ToFp16(0x80000000, relu), 0u);
  EXPECT_EQ(Fp32ToBf16(nan, relu), kNan16);
  EXPECT_EQ(Fp32ToFp16(nan), kNan16);
  EXPECT_EQ(Fp32ToTf32(nan), kNanTf32);
  const NarrowMode satfinite = {.satfinite = true};
  EXPECT_EQ(Fp32ToE4m3(0x7f800000, satfinite), 0x7eu);
  EXPECT_EQ(Fp32ToE5m2(0xff800000, satfinite), 0xfbu);
  EXPECT_EQ(Fp32ToE4m3(nan, satfinite), kNanFp8);
  EXPECT_EQ(Fp32ToE5m2(nan, satfinite), kNanFp8);
  EXPECT_EQ(Fp32ToBf16(0x00000001, {.round = Round::kRp, .ftz = true}), 0u);
  EXPECT_EQ(Fp32ToBf16(0x00000001, {.round = Round::kRp}), 1u);
}

}  // namespace
}  // namespace sm89::num
