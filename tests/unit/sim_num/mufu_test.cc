#include "sim/num/mufu.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/num/half.h"
#include "tests/unit/sim_num/reference.h"

namespace sm89::num {
namespace {

using testing::BitsOfDouble;
using testing::BitsOfFloat;
using testing::DoubleOf;
using testing::FloatOf;

constexpr uint32_t kInf = 0x7f800000;
constexpr uint32_t kMinus = 0x80000000;
constexpr uint32_t kNan = 0x7fffffff;
constexpr int kSweep = 1 << 20;
constexpr long double kPi = 3.14159265358979323846264338327950288L;

// sin or cos of x turns, reduced exactly before multiplying by pi.
long double Turns(float x, bool cosine) {
  const long double rest = std::remainder(static_cast<long double>(x), 1.0L);
  return cosine ? std::cos(2 * kPi * rest) : std::sin(2 * kPi * rest);
}

// Calls check(x, result) for 2^20 bit patterns spread over all floats, those with subnormal x excepted.
template <typename Check>
void Sweep(MufuOp op, Check check) {
  for (int i = 0; i < kSweep; ++i) {
    const uint32_t bits = static_cast<uint32_t>(i) * 4093u;
    if ((bits & kInf) == 0 || (bits & kInf) == kInf) continue;
    check(FloatOf(bits), FloatOf(Mufu(op, bits)));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// The PTX ISA's relative bound; smaller results than the smallest normal number must be flushed.
void ExpectRelative(long double want, float got, double bound, float x) {
  if (std::fabs(want) < 0x1p-126L * (1 - 0x1p-25L)) {
    ASSERT_EQ(got, 0.0f) << x;
  } else if (std::fabs(want) >= 0x1p128L) {
    ASSERT_TRUE(std::isinf(got)) << x;
  } else {
    ASSERT_LE(std::fabs(got - want), bound * std::fabs(want)) << x << " gives " << got;
  }
}

TEST(Mufu, ReciprocalWithinOneUlp) {
  Sweep(MufuOp::kRcp, [](float x, float got) { ExpectRelative(1.0L / x, got, 0x1p-23, x); });
}

TEST(Mufu, ReciprocalSquareRootWithinTheBound) {
  Sweep(MufuOp::kRsq, [](float x, float got) {
    if (x < 0) {
      ASSERT_TRUE(std::isnan(got));
    } else {
      ExpectRelative(1.0L / std::sqrt(static_cast<long double>(x)), got, 0x1p-22, x);
    }
  });
}

TEST(Mufu, SquareRootWithinTheBound) {
  Sweep(MufuOp::kSqrt, [](float x, float got) {
    if (x < 0) {
      ASSERT_TRUE(std::isnan(got));
    } else {
      ExpectRelative(std::sqrt(static_cast<long double>(x)), got, 0x1p-23, x);
    }
  });
}

TEST(Mufu, PowerOfTwoWithinTheBound) {
  Sweep(MufuOp::kEx2,
        [](float x, float got) { ExpectRelative(std::exp2(static_cast<long double>(x)), got, 0x1p-22, x); });
  for (int i = 0; i < kSweep; ++i) {
    const float x = -130.0f + 260.0f * static_cast<float>(i) / kSweep;
    ExpectRelative(std::exp2(static_cast<long double>(x)), FloatOf(Mufu(MufuOp::kEx2, BitsOfFloat(x))),
                   0x1p-22, x);
    if (HasFatalFailure()) return;
  }
}

TEST(Mufu, LogarithmWithinTheBounds) {
  const auto check = [](float x, float got) {
    if (x < 0) {
      ASSERT_TRUE(std::isnan(got));
      return;
    }
    const long double want = std::log2(static_cast<long double>(x));
    // Absolute near one, relative elsewhere.
    const bool near_one = x > 0.5f && x < 2.0f;
    ASSERT_LE(std::fabs(got - want), near_one ? 0x1p-22 : 0x1p-22 * std::fabs(want)) << x;
  };
  Sweep(MufuOp::kLg2, check);
  for (int i = 0; i < kSweep; i += 16) {
    const uint32_t bits = 0x3f000000u + static_cast<uint32_t>(i) * 16;  // 0.5 to 2
    check(FloatOf(bits), FloatOf(Mufu(MufuOp::kLg2, bits)));
    if (HasFatalFailure()) return;
  }
}

TEST(Mufu, SineAndCosineOfTurnsWithinTheBound) {
  for (int i = 0; i < kSweep; ++i) {
    const float x = -16.0f + 32.0f * static_cast<float>(i) / kSweep;
    const float sine = FloatOf(Mufu(MufuOp::kSin, BitsOfFloat(x)));
    const float cosine = FloatOf(Mufu(MufuOp::kCos, BitsOfFloat(x)));
    ASSERT_LE(std::fabs(sine - Turns(x, false)), 0x1p-24) << x;
    ASSERT_LE(std::fabs(cosine - Turns(x, true)), 0x1p-24) << x;
  }
  Sweep(MufuOp::kSin, [](float x, float got) { ASSERT_LE(std::fabs(got - Turns(x, false)), 0x1p-24) << x; });
  Sweep(MufuOp::kCos, [](float x, float got) { ASSERT_LE(std::fabs(got - Turns(x, true)), 0x1p-24) << x; });
}

TEST(Mufu, HyperbolicTangentWithinTheBound) {
  Sweep(MufuOp::kTanh,
        [](float x, float got) { ExpectRelative(std::tanh(static_cast<long double>(x)), got, 0x1p-11, x); });
}

TEST(Mufu, HighWordsOfReciprocalsHaveTwentyBits) {
  for (uint32_t i = 0; i < 200000; ++i) {
    const uint32_t high = (i * 10007u) & 0x7fffffffu;
    const double x = DoubleOf(uint64_t{high} << 32);
    if ((high & 0x7ff00000u) == 0 || !std::isfinite(x)) continue;
    const double rcp = DoubleOf(uint64_t{Mufu(MufuOp::kRcp64h, high)} << 32);
    const double rsq = DoubleOf(uint64_t{Mufu(MufuOp::kRsq64h, high)} << 32);
    if (1.0 / x < 0x1p-1022) {
      ASSERT_EQ(rcp, 0.0);
    } else {
      ASSERT_LE(std::fabs(rcp * x - 1.0), 0x1p-20) << high;
    }
    ASSERT_LE(std::fabs(rsq * std::sqrt(x) - 1.0), 0x1p-20) << high;
  }
}

TEST(Mufu, SpecialOperands) {
  struct Row {
    MufuOp op;
    uint32_t src, want;
  };
  const uint32_t one = BitsOfFloat(1.0f);
  const Row rows[] = {
      {MufuOp::kRcp, 0, kInf},
      {MufuOp::kRcp, kMinus, kMinus | kInf},
      {MufuOp::kRcp, 0x00000001, kInf},
      {MufuOp::kRcp, kInf, 0},
      {MufuOp::kRcp, kMinus | kInf, kMinus},
      {MufuOp::kRcp, 0x7f000000, 0},  // 2^-127 is flushed
      {MufuOp::kRsq, 0, kInf},
      {MufuOp::kRsq, kMinus, kMinus | kInf},
      {MufuOp::kRsq, kInf, 0},
      {MufuOp::kRsq, kMinus | one, kNan},
      {MufuOp::kSqrt, kMinus, kMinus},
      {MufuOp::kSqrt, kInf, kInf},
      {MufuOp::kSqrt, kMinus | one, kNan},
      {MufuOp::kSqrt, 0x00000001, 0},
      {MufuOp::kEx2, kInf, kInf},
      {MufuOp::kEx2, kMinus | kInf, 0},
      {MufuOp::kEx2, 0x00000001, one},
      {MufuOp::kEx2, BitsOfFloat(-127.0f), 0},
      {MufuOp::kEx2, BitsOfFloat(128.0f), kInf},
      {MufuOp::kLg2, 0, kMinus | kInf},
      {MufuOp::kLg2, 0x00000001, kMinus | kInf},
      {MufuOp::kLg2, kInf, kInf},
      {MufuOp::kLg2, kMinus | one, kNan},
      {MufuOp::kLg2, one, 0},
      {MufuOp::kSin, kMinus, kMinus},
      {MufuOp::kSin, kInf, kNan},
      {MufuOp::kCos, 0, one},
      {MufuOp::kCos, kMinus | kInf, kNan},
      {MufuOp::kTanh, kInf, one},
      {MufuOp::kTanh, kMinus | kInf, kMinus | one},
      {MufuOp::kTanh, kMinus, kMinus},
      {MufuOp::kTanh, 0x00000001, 0x00000001},
      {MufuOp::kRcp64h, 0, 0x7ff00000},
      {MufuOp::kRcp64h, 0x80000001, 0xfff00000},
      {MufuOp::kRcp64h, 0xfff00000, kMinus},
      {MufuOp::kRcp64h, 0x3ff00000, 0x3ff00000},
      {MufuOp::kRsq64h, 0xbff00000, kNan},
      {MufuOp::kRsq64h, 0x40100000, 0x3fe00000},
      {MufuOp::kRsq64h, 0x7ff00000, 0},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Mufu(row.op, row.src), row.want) << static_cast<int>(row.op) << " of " << std::hex << row.src;
  }
  for (int op = 0; op < 10; ++op) EXPECT_EQ(Mufu(static_cast<MufuOp>(op), 0xfff80001), kNan) << op;
}

TEST(Mufu, LanesAgreeWithTheScalars) {
  uint32_t src[32];
  uint32_t dst[32];
  for (uint32_t round = 0; round < 2000; ++round) {
    const auto op = static_cast<MufuOp>(round % 10);
    for (uint32_t i = 0; i < 32; ++i) {
      const uint32_t raw = (round * 32 + i) * 0x9e3779b9u;
      src[i] = round % 3 == 0 ? raw : (raw & 0x80ffffffu) | 0x40000000u;  // all floats, or around 2 to 8
    }
    MufuLanes(op, src, dst);
    for (int i = 0; i < 32; ++i) ASSERT_EQ(dst[i], Mufu(op, src[i])) << round % 10 << " of " << src[i];
  }
}

TEST(Mufu, HalfVariantsRoundToFp16) {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const float x = FloatOf(Fp16ToFp32(static_cast<uint16_t>(bits)));
    const float power = FloatOf(Fp16ToFp32(MufuF16(MufuOp::kEx2, static_cast<uint16_t>(bits | 0x8000))));
    const float tangent = FloatOf(Fp16ToFp32(MufuF16(MufuOp::kTanh, static_cast<uint16_t>(bits))));
    ASSERT_LE(std::fabs(power - std::exp2(-static_cast<double>(x))), std::ldexp(1.0, -11) * power + 0x1p-25)
        << x;
    ASSERT_LE(std::fabs(tangent - std::tanh(static_cast<double>(x))),
              std::ldexp(1.0, -11) * tangent + 0x1p-25)
        << x;
  }
}

}  // namespace
}  // namespace sm89::num
