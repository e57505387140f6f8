// Floating point and conversions: operands, modifiers and destinations reach the arithmetic of sim/num as the
// word says. (What the arithmetic gives is tested there and by the silicon probes.)
#include <bit>
#include <cmath>

#include "sim/emu/alu_convert_lanes.h"
#include "sim/num/convert.h"
#include "sim/num/fp16x2.h"
#include "sim/num/fp32.h"
#include "tests/unit/sim_emu/alu_lab.h"

namespace sm89::emu {
namespace {

float F(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t U(float value) { return std::bit_cast<uint32_t>(value); }
double D(uint64_t bits) { return std::bit_cast<double>(bits); }
uint64_t U(double value) { return std::bit_cast<uint64_t>(value); }

// Registers filled with a few plain numbers, all different.
void FillFloats(AluLab& lab) {
  for (uint32_t r = 0; r < 64; ++r) {
    for (int i = 0; i < kWarpSize; ++i) {
      lab.reg(r, i) = U(
          static_cast<float>(static_cast<int>((r * 37 + static_cast<uint32_t>(i) * 11) % 101) - 50) * 0.375f);
    }
  }
}
void FillDoubles(AluLab& lab) {
  for (uint32_t r = 0; r < 64; r += 2) {
    for (int i = 0; i < kWarpSize; ++i) lab.SetPair(r, i, U(static_cast<double>(r) * 1.1 - i * 3.7));
  }
}
// One FP16 number in each half: sixteenths.
void FillHalves(AluLab& lab) {
  for (uint32_t r = 0; r < 64; ++r) {
    for (int i = 0; i < kWarpSize; ++i) {
      const auto bits = [&](uint32_t k) {
        const float value =
            (static_cast<float>((r * 7 + static_cast<uint32_t>(i) * 5 + k * 13) % 61) - 30) / 16;
        return num::F2f(U(value), num::FloatType::kF32, num::FloatType::kF16, num::Round::kRn, false);
      };
      lab.reg(r, i) = static_cast<uint32_t>(bits(0) | bits(1) << 16);
    }
  }
}
float Half(uint32_t bits) {
  return F(static_cast<uint32_t>(
      num::F2f(bits & 0xffff, num::FloatType::kF16, num::FloatType::kF32, num::Round::kRn, false)));
}

template <typename Fill, typename Check>
void RunOn(uint64_t lo, uint64_t hi, Fill fill, Check check) {
  AluLab before(1), after(1);
  fill(before);
  fill(after);
  const absl::Status status = after.Run(lo, hi);
  ASSERT_TRUE(status.ok()) << status;
  for (int i = 0; i < kWarpSize; ++i) {
    SCOPED_TRACE(after.text + " lane " + std::to_string(i));
    check(before, after, i);
  }
}

TEST(AluFloat, OperandsAndSigns) {
  // FFMA R3, -R0, R0, R3
  RunOn(0x0000000000037223, 0x000fc80000000103, FillFloats, [](AluLab& b, AluLab& a, int i) {
    EXPECT_EQ(F(a.reg(3, i)), std::fma(-F(b.reg(0, i)), F(b.reg(0, i)), F(b.reg(3, i))));
  });
  // FADD R3, |R12|, |R11|
  RunOn(0x4000000b0c037221, 0x000fe20000000200, FillFloats, [](AluLab& b, AluLab& a, int i) {
    EXPECT_EQ(F(a.reg(3, i)), std::fabs(F(b.reg(12, i))) + std::fabs(F(b.reg(11, i))));
  });
  // FADD R0, R3, -R0
  RunOn(0x8000000003007221, 0x000fe20000000000, FillFloats,
        [](AluLab& b, AluLab& a, int i) { EXPECT_EQ(F(a.reg(0, i)), F(b.reg(3, i)) - F(b.reg(0, i))); });
  // FMUL R0, R0, 3
  RunOn(0x4040000000007820, 0x000fca0000400000, FillFloats,
        [](AluLab& b, AluLab& a, int i) { EXPECT_EQ(F(a.reg(0, i)), F(b.reg(0, i)) * 3); });
  // FADD.SAT R9, RZ, R4
  RunOn(0x00000004ff097221, 0x000fe20000002000, FillFloats, [](AluLab& b, AluLab& a, int i) {
    EXPECT_EQ(F(a.reg(9, i)), std::min(1.0f, std::max(0.0f, F(b.reg(4, i)))));
  });
}

TEST(AluFloat, MinimumMaximumByPredicate) {
  // FMNMX R5, R10, R8, PT and FMNMX R4, R3, R4, !PT
  RunOn(0x000000080a057209, 0x003fde0003800000, FillFloats, [](AluLab& b, AluLab& a, int i) {
    EXPECT_EQ(F(a.reg(5, i)), std::min(F(b.reg(10, i)), F(b.reg(8, i))));
  });
  RunOn(0x0000000403047209, 0x004fd60007800000, FillFloats, [](AluLab& b, AluLab& a, int i) {
    EXPECT_EQ(F(a.reg(4, i)), std::max(F(b.reg(3, i)), F(b.reg(4, i))));
  });
  // The same with P2 in place of PT: [89:87].
  RunOn(0x000000080a057209, 0x003fde0001000000, FillFloats, [](AluLab& b, AluLab& a, int i) {
    const float x = F(b.reg(10, i)), y = F(b.reg(8, i));
    EXPECT_EQ(F(a.reg(5, i)), b.pred(2, i) ? std::min(x, y) : std::max(x, y));
  });
}

TEST(AluFloat, Comparisons) {
  // FSETP.NEU.AND P0, PT, |R3|, R13, PT
  RunOn(0x0000000d0300720b, 0x001fc80003f0d200, FillFloats, [](AluLab& b, AluLab& a, int i) {
    EXPECT_EQ(a.pred(0, i), std::fabs(F(b.reg(3, i))) != F(b.reg(13, i)));
  });
  // FSETP.GT.AND P0, PT, R12, R3, PT; NaN compares false
  AluLab lab(1);
  FillFloats(lab);
  lab.reg(12, 4) = 0x7fc00000;
  ASSERT_TRUE(lab.Run(0x000000030c00720b, 0x000fe40003f04000).ok());
  for (int i = 0; i < kWarpSize; ++i) EXPECT_EQ(lab.pred(0, i), F(lab.reg(12, i)) > F(lab.reg(3, i)));
  // FSET.BF.EQ.AND R9, R6, R9, PT
  RunOn(0x000000090609720a, 0x000fe20003802000, FillFloats, [](AluLab& b, AluLab& a, int i) {
    EXPECT_EQ(F(a.reg(9, i)), F(b.reg(6, i)) == F(b.reg(9, i)) ? 1.0f : 0.0f);
  });
}

TEST(AluFloat, Multifunction) {
  // MUFU.RCP R3, R2
  RunOn(0x0000000200037308, 0x000e240000001000, FillFloats, [](AluLab& b, AluLab& a, int i) {
    const float exact = 1 / F(b.reg(2, i));
    if (F(b.reg(2, i)) == 0) {
      EXPECT_TRUE(std::isinf(F(a.reg(3, i))));
    } else {
      EXPECT_NEAR(F(a.reg(3, i)), exact, std::fabs(exact) * 2.4e-7);  // PTX rcp.approx: 1 ulp
    }
  });
}

TEST(AluDouble, OperandsAndSigns) {
  // DFMA R12, R8, R12, R26
  RunOn(0x0000000c080c722b, 0x001046000000001a, FillDoubles, [](AluLab& b, AluLab& a, int i) {
    EXPECT_EQ(D(a.pair(12, i)), std::fma(D(b.pair(8, i)), D(b.pair(12, i)), D(b.pair(26, i))));
  });
  // DADD R18, R6, -R10
  RunOn(0x0000000006127229, 0x000e48000000080a, FillDoubles,
        [](AluLab& b, AluLab& a, int i) { EXPECT_EQ(D(a.pair(18, i)), D(b.pair(6, i)) - D(b.pair(10, i))); });
  // DMUL R44, R20, 1.80143985094819840000e+16: the immediate is the high word
  RunOn(0x43500000142c7828, 0x0000620000000000, FillDoubles, [](AluLab& b, AluLab& a, int i) {
    EXPECT_EQ(D(a.pair(44, i)), D(b.pair(20, i)) * 18014398509481984.0);
  });
}

TEST(AluDouble, ComparisonsAndMinimum) {
  // DSETP.GT.AND P0, PT, R4, R2, PT
  RunOn(0x000000020400722a, 0x004e0c0003f04000, FillDoubles,
        [](AluLab& b, AluLab& a, int i) { EXPECT_EQ(a.pred(0, i), D(b.pair(4, i)) > D(b.pair(2, i))); });
  // DSETP.MIN.AND P0, P1, R4, R6, PT: Pu takes R4, Pv says that both are NaN.
  AluLab lab(1);
  FillDoubles(lab);
  const uint64_t nan = 0x7ff8000000000000u;
  struct Case {
    uint64_t a, b;
    bool first, both_nan;
  };
  const Case cases[] = {{U(1.0), U(2.0), true, false},  {U(2.0), U(1.0), false, false},
                        {nan, U(1.0), false, false},    {U(1.0), nan, true, false},
                        {nan, nan, false, true},        {U(-0.0), U(0.0), true, false},
                        {U(0.0), U(-0.0), false, false}};
  for (int i = 0; i < 7; ++i) {
    lab.SetPair(4, i, cases[i].a);
    lab.SetPair(6, i, cases[i].b);
  }
  ASSERT_TRUE(lab.Run(0x000000060400722a, 0x140ea20003900000).ok());
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(lab.pred(0, i), cases[i].first) << i;
    EXPECT_EQ(lab.pred(1, i), cases[i].both_nan) << i;
  }
}

TEST(AluHalf, SelectorsAndImmediates) {
  // HADD2 R10, R8, R9
  RunOn(0x00000009080a7230, 0x000fe20000000000, FillHalves, [](AluLab& b, AluLab& a, int i) {
    EXPECT_EQ(Half(a.reg(10, i)), Half(b.reg(8, i)) + Half(b.reg(9, i)));
    EXPECT_EQ(Half(a.reg(10, i) >> 16), Half(b.reg(8, i) >> 16) + Half(b.reg(9, i) >> 16));
  });
  // HADD2.F32 R10, -RZ, R10.H1_H1: half to float
  RunOn(0x3000000aff0a7230, 0x000fe40000004100, FillHalves,
        [](AluLab& b, AluLab& a, int i) { EXPECT_EQ(F(a.reg(10, i)), Half(b.reg(10, i) >> 16)); });
  // HFMA2 R7, R4, 0.125, 0.125, R7
  RunOn(0x3000300004077831, 0x004fc80000000007, FillHalves, [](AluLab& b, AluLab& a, int i) {
    for (int k = 0; k < 32; k += 16) {
      const float exact = Half(b.reg(4, i) >> k) * 0.125f + Half(b.reg(7, i) >> k);
      EXPECT_NEAR(Half(a.reg(7, i) >> k), exact, std::fabs(exact) / 2048);
    }
  });
  // HMNMX2 R8, R8, |R3|, PT
  RunOn(0x4000000308087240, 0x000fe20003800000, FillHalves, [](AluLab& b, AluLab& a, int i) {
    EXPECT_EQ(Half(a.reg(8, i)), std::min(Half(b.reg(8, i)), std::fabs(Half(b.reg(3, i)))));
  });
  // HFMA2.MMA R7, -RZ, RZ, 1.8759765625, 7.6796875: a constant into a register, on sm_90
  AluLab lab;
  ASSERT_TRUE(lab.Run(0x3f8147aeff077435, 0x000fd400000001ff, kAllLanes, sass::kSm90).ok());
  EXPECT_EQ(lab.reg(7, 31), 0x3f8147aeu);
}

TEST(AluHalf, Comparisons) {
  // HSETP2.EQ.AND P0, P1, R9.H0_H0, 552.5, 1.0107421875, PT: low half against the second number
  AluLab lab;
  lab.Fill(9, 0xffff3c0b);
  lab.reg(9, 1) = 0x00006051;
  ASSERT_TRUE(lab.Run(0x60513c0b09007434, 0x000fe40003902800).ok());
  EXPECT_TRUE(lab.pred(0, 0));
  EXPECT_FALSE(lab.pred(1, 0));
  EXPECT_FALSE(lab.pred(0, 1));
  EXPECT_TRUE(lab.pred(1, 1));
  // HSET2.BF.GE.AND R9, R2, R3, PT and HSET2.GT.AND R10, R2, R3, PT
  RunOn(0x0000000302097233, 0x000fe20003806080, FillHalves, [](AluLab& b, AluLab& a, int i) {
    EXPECT_EQ(Half(a.reg(9, i)), Half(b.reg(2, i)) >= Half(b.reg(3, i)) ? 1.0f : 0.0f);
  });
  RunOn(0x00000003020a7233, 0x140fe20003804000, FillHalves, [](AluLab& b, AluLab& a, int i) {
    EXPECT_EQ(a.reg(10, i) >> 16, Half(b.reg(2, i) >> 16) > Half(b.reg(3, i) >> 16) ? 0xffffu : 0u);
  });
}

// The vector forms of common conversions against sim/num: every half, and singles around every rounding step.
TEST(AluConvert, VectorFormsAreTheSame) {
  const num::HalfMode to_single = {.out = num::HalfOut::kF32};
  for (uint32_t half = 0; half < 0x10000; ++half) {
    ASSERT_EQ(SingleOfHalf(half), num::Hadd2(0x80008000, half | half << 16, to_single)) << std::hex << half;
  }
  const num::F2fpMode f16 = {.dst = 0}, bf16 = {.dst = 1};
  AluLab random;
  for (uint32_t top = 0; top < 0x10000; ++top) {
    const uint32_t lows[] = {0,
                             1,
                             0x7fff,
                             0x8000,
                             0x8001,
                             0xffff,
                             0x0fff,
                             0x1000,
                             0x1001,
                             0x2fff,
                             0x3000,
                             0x3001,
                             static_cast<uint32_t>(random.Next() & 0xffff)};
    const uint32_t low = lows[top % std::size(lows)];
    for (const uint32_t single : {top << 16 | low, top << 16 | lows[12]}) {
      ASSERT_EQ(HalfOfSingle(single), num::F2fp(0, single, 0, f16) & 0xffff) << std::hex << single;
      ASSERT_EQ(Bf16OfSingle(single), num::F2fp(0, single, 0, bf16) & 0xffff) << std::hex << single;
    }
  }
}

TEST(AluConvert, BetweenFloats) {
  // F2F.F64.F32 R4, R8; F2F.F32.F64 R4, R10; F2F.F16.F32 R20, R20; FRND R8, R8
  RunOn(0x0000000800047310, 0x001e300000201800, FillFloats,
        [](AluLab& b, AluLab& a, int i) { EXPECT_EQ(D(a.pair(4, i)), double{F(b.reg(8, i))}); });
  RunOn(0x0000000a00047310, 0x005e240000301000, FillDoubles,
        [](AluLab& b, AluLab& a, int i) { EXPECT_EQ(F(a.reg(4, i)), static_cast<float>(D(b.pair(10, i)))); });
  RunOn(0x0000001400147304, 0x00321e0000200800, FillFloats,
        [](AluLab& b, AluLab& a, int i) { EXPECT_EQ(Half(a.reg(20, i)), F(b.reg(20, i))); });
  RunOn(0x0000000800087307, 0x000e300000201000, FillFloats,
        [](AluLab& b, AluLab& a, int i) { EXPECT_EQ(F(a.reg(8, i)), std::nearbyint(F(b.reg(8, i)))); });
}

TEST(AluConvert, FloatsAndIntegers) {
  // F2I.TRUNC.NTZ R8, R8; F2I.S64.F64.TRUNC R14, R4; I2F.F64.S64 R14, R14
  RunOn(0x0000000800087305, 0x000e24000020f100, FillFloats, [](AluLab& b, AluLab& a, int i) {
    EXPECT_EQ(static_cast<int32_t>(a.reg(8, i)), static_cast<int32_t>(F(b.reg(8, i))));
  });
  RunOn(0x00000004000e7311, 0x000eb0000030d900, FillDoubles, [](AluLab& b, AluLab& a, int i) {
    EXPECT_EQ(static_cast<int64_t>(a.pair(14, i)), static_cast<int64_t>(D(b.pair(4, i))));
  });
  const auto keep = [](AluLab&) {};
  RunOn(0x0000000e000e7312, 0x004ff00000301c00, keep, [](AluLab& b, AluLab& a, int i) {
    EXPECT_EQ(D(a.pair(14, i)), static_cast<double>(static_cast<int64_t>(b.pair(14, i))));
  });
  // I2FP.F32.S32 R0, R5; I2FP.F32.U32 R7, R2; I2F.S16 R7, R2
  RunOn(0x0000000500007245, 0x000fe40000201400, keep, [](AluLab& b, AluLab& a, int i) {
    EXPECT_EQ(F(a.reg(0, i)), static_cast<float>(static_cast<int32_t>(b.reg(5, i))));
  });
  RunOn(0x0000000200077245, 0x004fca0000201000, keep,
        [](AluLab& b, AluLab& a, int i) { EXPECT_EQ(F(a.reg(7, i)), static_cast<float>(b.reg(2, i))); });
  RunOn(0x0000000200077306, 0x004e280000101400, keep, [](AluLab& b, AluLab& a, int i) {
    EXPECT_EQ(F(a.reg(7, i)), static_cast<float>(static_cast<int16_t>(b.reg(2, i))));
  });
}

TEST(AluConvert, Packing) {
  // F2FP.F16.F32.PACK_AB R20, R20, R5: A above B
  RunOn(0x000000051414723e, 0x000fe200000000ff, FillFloats, [](AluLab& b, AluLab& a, int i) {
    EXPECT_EQ(Half(a.reg(20, i)), F(b.reg(5, i)));
    EXPECT_EQ(Half(a.reg(20, i) >> 16), F(b.reg(20, i)));
  });
  // F2FP.F16.E4M3.UNPACK_B R9, R2: 0x38 is 1.0, 0xc0 is -2.0
  AluLab lab;
  lab.Fill(2, 0x0000c038);
  ASSERT_TRUE(lab.Run(0x00000002ff09723e, 0x000fe400020006ff).ok());
  EXPECT_EQ(lab.reg(9, 0), 0xc0003c00u);
  // I2IP.U8.S32.SAT R15, R14, R15, R16
  lab.Fill(14, 300);
  lab.Fill(15, static_cast<uint32_t>(-1));
  lab.Fill(16, 0xabcd1234);
  ASSERT_TRUE(lab.Run(0x0000000f0e0f7239, 0x008fca0000000010).ok());
  EXPECT_EQ(lab.reg(15, 0), 0x1234ff00u);
  // I2IP.S4.S32.SAT R7, R0, R7, R6.24
  lab.Fill(0, 5);
  lab.Fill(7, static_cast<uint32_t>(-20));
  lab.Fill(6, 0xab345678);
  ASSERT_TRUE(lab.Run(0x0000000700077239, 0x004fca0000007206).ok());
  EXPECT_EQ(lab.reg(7, 0), 0x34567858u);
  // I2I.U16.S32.SAT R16, R14
  lab.Fill(14, 70000);
  ASSERT_TRUE(lab.Run(0x0000000e00107238, 0x008fe20000002000).ok());
  EXPECT_EQ(lab.reg(16, 0), 65535u);
}

}  // namespace
}  // namespace sm89::emu
