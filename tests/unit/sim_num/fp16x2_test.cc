#include "sim/num/fp16x2.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/num/half.h"
#include "tests/unit/sim_num/reference.h"

namespace sm89::num {
namespace {

using testing::BitsOfFloat;
using testing::Float128;
using testing::FloatOf;
using testing::MakeTable;
using testing::Operands;
using testing::RoundByTable;
using testing::Table;

float Value(uint32_t half, bool bf16) {
  const auto bits = static_cast<uint16_t>(half);
  return FloatOf(bf16 ? Bf16ToFp32(bits) : Fp16ToFp32(bits));
}

// a * b + c rounded once, from exact quadruple arithmetic (the callers keep exponents in its range).
uint32_t Reference(const Table& table, uint32_t a, uint32_t b, uint32_t c, bool bf16) {
  const float x = Value(a, bf16);
  const float y = Value(b, bf16);
  const float z = Value(c, bf16);
  const float rough = x * y + z;
  if (std::isnan(x) || std::isnan(y) || std::isnan(z) || (std::isinf(x) && y == 0) ||
      (std::isinf(y) && x == 0)) {
    return kNan16;
  }
  if (std::isinf(x) || std::isinf(y) || std::isinf(z)) {
    return std::isnan(rough) ? kNan16 : (rough < 0 ? 0x8000u : 0u) | (table.back().second + 1);
  }
  const Float128 exact = static_cast<Float128>(x) * y + z;
  if (exact == 0) return std::signbit(x * y + z) ? 0x8000u : 0u;
  const bool negative = exact < 0;
  return (negative ? 0x8000u : 0u) | RoundByTable(table, exact, negative, Round::kRn);
}

void CheckFma(bool bf16, uint16_t (*next)(Operands*)) {
  const Table table = bf16 ? MakeTable(8, 7, 0x7f80) : MakeTable(5, 10, 0x7c00);
  const HalfMode mode = {.out = bf16 ? HalfOut::kBf16 : HalfOut::kF16};
  Operands operands(31);
  for (int i = 0; i < 2000; ++i) {
    uint32_t source[3][kLanes];
    uint32_t wide[kLanes];
    uint32_t portable[kLanes];
    for (auto& row : source) {
      for (uint32_t& pair : row) pair = next(&operands) | (uint32_t{next(&operands)} << 16);
    }
    Hfma2Lanes(source[0], source[1], source[2], wide, mode);
    Hfma2LanesPortable(source[0], source[1], source[2], portable, mode);
    for (int n = 0; n < kLanes; ++n) {
      ASSERT_EQ(wide[n], portable[n]);
      for (int shift = 0; shift < 32; shift += 16) {
        const auto half = [&](int operand) { return (source[operand][n] >> shift) & 0xffffu; };
        ASSERT_EQ((wide[n] >> shift) & 0xffffu, Reference(table, half(0), half(1), half(2), bf16))
            << std::hex << half(0) << " " << half(1) << " " << half(2);
      }
    }
  }
}

TEST(Fp16x2, FusedFp16RoundsTheExactValueOnce) {
  CheckFma(false, [](Operands* operands) { return operands->Half(); });
}

TEST(Fp16x2, FusedBf16RoundsTheExactValueOnce) {
  // Exponents around one, so that quadruple arithmetic is exact.
  CheckFma(true, [](Operands* operands) -> uint16_t {
    const auto bits = static_cast<uint16_t>(operands->Raw());
    if (operands->Raw() % 16 == 0)
      return static_cast<uint16_t>((bits & 0x8000) | ((bits & 1) != 0 ? 0x7f80 : 0));
    return static_cast<uint16_t>((bits & 0x80ff) | (((112 + operands->Raw() % 32) << 7) & 0x7f00));
  });
}

TEST(Fp16x2, Bf16TieIsBrokenByATinyAddend) {
  // (1 + 2^-7) * (1 + 2^-1) = 1.51171875 lies half way between two BF16 numbers.
  const HalfMode mode = {.out = HalfOut::kBf16};
  EXPECT_EQ(Hfma2(0x3f81, 0x3fc0, 0x0000, mode) & 0xffff, 0x3fc2u);
  EXPECT_EQ(Hfma2(0x3f81, 0x3fc0, 0x0080, mode) & 0xffff, 0x3fc2u);
  EXPECT_EQ(Hfma2(0x3f81, 0x3fc0, 0x8080, mode) & 0xffff, 0x3fc1u);
}

TEST(Fp16x2, AddAndMultiplyKeepSignsOfZero) {
  EXPECT_EQ(Hadd2(0x80008000, 0x80000000, {}), 0x80000000u);
  EXPECT_EQ(Hmul2(0x80008000, 0x3c00bc00, {}), 0x80000000u);
  EXPECT_EQ(Hadd2(0x3c004000, 0x3c003c00, {}), 0x40004200u);
  EXPECT_EQ(Hmul2(0x7c003c00, 0x00004000, {}), 0x7fff4000u);
}

TEST(Fp16x2, AddWithFp32ResultWidensEveryFp16) {
  const HalfMode mode = {.out = HalfOut::kF32};
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    ASSERT_EQ(Hadd2(0x80008000, bits | (bits << 16), mode), Fp16ToFp32(static_cast<uint16_t>(bits))) << bits;
  }
}

TEST(Fp16x2, FusedWithFp32ResultIsNotRoundedToFp16) {
  const HalfMode mode = {.out = HalfOut::kF32};
  EXPECT_EQ(Hfma2(0x3c01, 0x3c01, 0x0000, mode), BitsOfFloat(1.0009765625f * 1.0009765625f));
  EXPECT_EQ(Hfma2(0x7bff, 0x7bff, 0x0000, mode), BitsOfFloat(65504.0f * 65504.0f));
}

TEST(Fp16x2, Modifiers) {
  EXPECT_EQ(Hadd2(0x3c00bc00, 0x3c000000, {.sat = true}), 0x3c000000u);
  EXPECT_EQ(Hadd2(0x7fff3c00, 0x0000bc00, {.sat = true}), 0u);
  EXPECT_EQ(Hadd2(0xbc00fe00, 0x00000000, {.relu = true}), 0x00007fffu);
  EXPECT_EQ(Hadd2(0x00010001, 0x80000001, {.ftz = true}), 0u);
  EXPECT_EQ(Hmul2(0x04003c00, 0x38000001, {.ftz = true}), 0u);
  EXPECT_EQ(Hmul2(0x04003c00, 0x38000001, {}), 0x02000001u);
  EXPECT_EQ(Hmul2(0x00007c00, 0x7c007c00, {.fmz = true}), 0x00007c00u);
  EXPECT_EQ(Hfma2(0x0000, 0x7e00, 0x3c00, {.fmz = true}), 0x3c00u);
}

TEST(Fp16x2, LanesMayOverlayASource) {
  uint32_t row[kLanes];
  uint32_t two[kLanes];
  for (int n = 0; n < kLanes; ++n) {
    row[n] = Fp32ToFp16(BitsOfFloat(static_cast<float>(n)));
    two[n] = 0x40004000;
  }
  Hmul2Lanes(row, two, row, {});
  Hadd2Lanes(row, row, row, {});
  for (int n = 0; n < kLanes; ++n) EXPECT_EQ(Value(row[n] & 0xffff, false), 4.0f * static_cast<float>(n));
}

TEST(Fp16x2, SwizzlesPickHalves) {
  EXPECT_EQ(ApplySwizzle(0xaaaabbbb, Swizzle::kH1H0), 0xaaaabbbbu);
  EXPECT_EQ(ApplySwizzle(0xaaaabbbb, Swizzle::kH0H0), 0xbbbbbbbbu);
  EXPECT_EQ(ApplySwizzle(0xaaaabbbb, Swizzle::kH1H1), 0xaaaaaaaau);
  // __hcmadd of sm_90 on an H200: the second half of a complex product is a.im * (-b.im, b.re)
  EXPECT_EQ(ApplySwizzle(0x3c004000, Swizzle::kH0NH1), 0x4000bc00u);
  EXPECT_EQ(ApplySwizzle(BitsOfFloat(1.5f), Swizzle::kF32), 0x3e003e00u);
}

TEST(Fp16x2, MinMaxAndCompare) {
  EXPECT_EQ(Hmnmx2(0x3c00c000, 0x4000bc00, {}, false), 0x3c00c000u);
  EXPECT_EQ(Hmnmx2(0x3c00c000, 0x4000bc00, {.max = true}, false), 0x4000bc00u);
  EXPECT_EQ(Hmnmx2(0x7e003c00, 0x3c007e00, {.nan = true}, false), 0x7fff7fffu);
  EXPECT_EQ(Hmnmx2(0x7f813f80, 0x3f80ffff, {}, true), 0x3f803f80u);
  EXPECT_EQ(Hcompare2(0x3c007e00, 0x3c003c00, 2, false, false), 2u);   // EQ
  EXPECT_EQ(Hcompare2(0x3c007e00, 0x3c003c00, 13, false, false), 1u);  // NEU
  EXPECT_EQ(Hcompare2(0x00010001, 0x80000002, 2, true, false), 3u);
  EXPECT_EQ(Hset2Value(2, true, false), 0x3c000000u);
  EXPECT_EQ(Hset2Value(3, true, true), 0x3f803f80u);
  EXPECT_EQ(Hset2Value(1, false, false), 0x0000ffffu);
}

}  // namespace
}  // namespace sm89::num
