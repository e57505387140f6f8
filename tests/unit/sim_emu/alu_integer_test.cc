// Additions, products, comparisons: words as ptxas wrote them, against 64- and 128-bit arithmetic.
#include "tests/unit/sim_emu/alu_lab.h"

namespace sm89::emu {
namespace {

TEST(AluAdd, ThreeAddendsWithNegatedOnes) {
  // IADD3 R12, -R12, 0x1f, RZ
  ExpectLanes(0x0000001f0c0c7810, 0x002fc60007ffe1ff, 12,
              [](AluLab& w, int i) { return 0x1f - w.reg(12, i); });
  // IADD3 R42, R41, UR4, RZ
  ExpectLanes(0x00000004292a7c10, 0x000fe4000fffe0ff, 42,
              [](AluLab& w, int i) { return w.reg(41, i) + w.warp.ur[4]; });
  // IADD3 R7, R7, c[0x0][0x0], RZ
  ExpectLanes(0x0000000007077a10, 0x000fe40007ffe0ff, 7,
              [](AluLab& w, int i) { return w.reg(7, i) + AluLab::Constant(0); });
}

TEST(AluAdd, CarryOut) {
  // IADD3 R8, P0, R3, R8, RZ
  ExpectLanes(
      0x0000000803087210, 0x003fde0007f1e0ff, 8, [](AluLab& w, int i) { return w.reg(3, i) + w.reg(8, i); },
      [](AluLab& b, AluLab& a, int i) {
        EXPECT_EQ(a.pred(0, i), (uint64_t{b.reg(3, i)} + b.reg(8, i)) >> 32 != 0);
      });
  // IADD3 R6, P5, P6, R6, 0x40, R15
  ExpectLanes(
      0x0000004006067810, 0x000fe40007ebe00f, 6,
      [](AluLab& w, int i) { return w.reg(6, i) + 0x40 + w.reg(15, i); },
      [](AluLab& b, AluLab& a, int i) {
        const uint64_t sum = uint64_t{b.reg(6, i)} + 0x40 + b.reg(15, i);
        EXPECT_EQ(a.pred(5, i), sum >> 32 >= 1);
        EXPECT_EQ(a.pred(6, i), sum >> 32 >= 2);
      });
}

TEST(AluAdd, NegationCarriesAsComplementPlusOne) {
  // IADD3 R20, P3, P4, R2, -UR4, RZ
  ExpectLanes(
      0x8000000402147c10, 0x000fc8000fc7e0ff, 20, [](AluLab& w, int i) { return w.reg(2, i) - w.warp.ur[4]; },
      [](AluLab& b, AluLab& a, int i) {
        const uint64_t sum = uint64_t{b.reg(2, i)} + static_cast<uint32_t>(~b.warp.ur[4]) + 1;
        EXPECT_EQ(a.pred(3, i), sum >> 32 >= 1) << "no borrow";
        EXPECT_EQ(a.pred(4, i), sum >> 32 >= 2);
      });
}

TEST(AluAdd, CarryIn) {
  // IADD3.X R17, RZ, c[0x0][0x164], R17, P4, P3
  ExpectLanes(0x00005900ff117a10, 0x000fc400027e6411, 17, [](AluLab& w, int i) {
    return AluLab::Constant(0x164) + w.reg(17, i) + w.pred(4, i) + w.pred(3, i);
  });
  // IADD3.X R5, R5, 0x3fe00000, ~R8, P3, P4
  ExpectLanes(0x3fe0000005057810, 0x000fc80001fe8c08, 5, [](AluLab& w, int i) {
    return w.reg(5, i) + 0x3fe00000 + ~w.reg(8, i) + w.pred(3, i) + w.pred(4, i);
  });
  // IADD3.X R16, P1, R5, R8, RZ, P1, !PT
  ExpectLanes(
      0x0000000805107210, 0x000fc60000f3e4ff, 16,
      [](AluLab& w, int i) { return w.reg(5, i) + w.reg(8, i) + w.pred(1, i); },
      [](AluLab& b, AluLab& a, int i) {
        EXPECT_EQ(a.pred(1, i), (uint64_t{b.reg(5, i)} + b.reg(8, i) + b.pred(1, i)) >> 32 != 0);
      });
}

TEST(AluAdd, ScaledAddress) {
  // LEA R22, R22, R20, 0x4
  ExpectLanes(0x0000001416167211, 0x001fcc00078e20ff, 22,
              [](AluLab& w, int i) { return (w.reg(22, i) << 4) + w.reg(20, i); });
  // LEA R2, P0, R0, c[0x0][0x168], 0x2
  ExpectLanes(
      0x00005a0000027a11, 0x000fc800078010ff, 2,
      [](AluLab& w, int i) { return (w.reg(0, i) << 2) + AluLab::Constant(0x168); },
      [](AluLab& b, AluLab& a, int i) {
        EXPECT_EQ(a.pred(0, i), (uint64_t{b.reg(0, i) << 2} + AluLab::Constant(0x168)) >> 32 != 0);
      });
  // LEA R13, R13, -R0, 0x17
  ExpectLanes(0x800000000d0d7211, 0x002fe200078eb8ff, 13,
              [](AluLab& w, int i) { return (w.reg(13, i) << 23) - w.reg(0, i); });
}

TEST(AluAdd, ScaledAddressUpperWord) {
  // LEA.HI R0, R3, R10, RZ, 0x4
  ExpectLanes(0x0000000a03007211, 0x000fc800078f20ff, 0,
              [](AluLab& w, int i) { return (w.reg(3, i) >> 28) + w.reg(10, i); });
  // LEA.HI.X R3, R0, c[0x0][0x16c], R3, 0x2, P0
  ExpectLanes(0x00005b0000037a11, 0x000fca00000f1403, 3, [](AluLab& w, int i) {
    const uint64_t a = w.reg(0, i) | uint64_t{w.reg(3, i)} << 32;
    return static_cast<uint32_t>((a << 2) >> 32) + AluLab::Constant(0x16c) + w.pred(0, i);
  });
  // LEA.HI.X.SX32 R7, R4, c[0x0][0x174], 0x1, P0
  ExpectLanes(0x00005d0004077a11, 0x000fca00000f0eff, 7, [](AluLab& w, int i) {
    const auto a = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(w.reg(4, i))));
    return static_cast<uint32_t>((a << 1) >> 32) + AluLab::Constant(0x174) + w.pred(0, i);
  });
  // LEA.HI.SX32 R7, R2, R7, 0x1e
  ExpectLanes(0x0000000702077211, 0x000fe200078ff2ff, 7, [](AluLab& w, int i) {
    return static_cast<uint32_t>(static_cast<int32_t>(w.reg(2, i)) >> 2) + w.reg(7, i);
  });
}

TEST(AluAdd, AbsoluteValue) {
  AluLab lab;
  // IABS R0, R2 with both registers set by hand.
  lab.Fill(2, 0x80000000);
  lab.reg(2, 1) = static_cast<uint32_t>(-5);
  lab.reg(2, 2) = 7;
  ASSERT_TRUE(lab.Run(0x0000000200007213, 0x000fe20000000000).ok());
  EXPECT_EQ(lab.reg(0, 0), 0x80000000u);
  EXPECT_EQ(lab.reg(0, 1), 5u);
  EXPECT_EQ(lab.reg(0, 2), 7u);
}

TEST(AluMultiply, LowWord) {
  // IMAD R12, R17, R0, R3
  ExpectLanes(0x00000000110c7224, 0x000fe200078e0203, 12,
              [](AluLab& w, int i) { return w.reg(17, i) * w.reg(0, i) + w.reg(3, i); });
  // IMAD.X R13, R5, 0x1, R11, P0
  ExpectLanes(0x00000001050d7824, 0x000fe200000e060b, 13,
              [](AluLab& w, int i) { return w.reg(5, i) + w.reg(11, i) + w.pred(0, i); });
}

TEST(AluMultiply, Wide) {
  // IMAD.WIDE R2, R18, 0x4, R2
  ExpectLanes(
      0x0000000412027825, 0x000fe200078e0202, 2,
      [](AluLab& w, int i) { return w.reg(18, i) * 4 + w.reg(2, i); },
      [](AluLab& b, AluLab& a, int i) {
        const int64_t product = int64_t{static_cast<int32_t>(b.reg(18, i))} * 4;
        EXPECT_EQ(a.pair(2, i), static_cast<uint64_t>(product) + b.pair(2, i));
      });
  // IMAD.WIDE R4, R0, R5, c[0x0][0x160]
  ExpectLanes(
      0x0000580000047625, 0x000fcc00078e0205, 4,
      [](AluLab& w, int i) { return w.reg(0, i) * w.reg(5, i) + AluLab::Constant(0x160); },
      [](AluLab& b, AluLab& a, int i) {
        const auto product = static_cast<uint64_t>(int64_t{static_cast<int32_t>(b.reg(0, i))} *
                                                   static_cast<int32_t>(b.reg(5, i)));
        const uint64_t addend = AluLab::Constant(0x160) | uint64_t{AluLab::Constant(0x164)} << 32;
        EXPECT_EQ(a.pair(4, i), product + addend);
      });
  // IMAD.WIDE.U32 R10, R4, R7, c[0x0][0x160]
  ExpectLanes(
      0x00005800040a7625, 0x000fc800078e0007, 10,
      [](AluLab& w, int i) { return w.reg(4, i) * w.reg(7, i) + AluLab::Constant(0x160); },
      [](AluLab& b, AluLab& a, int i) {
        const uint64_t addend = AluLab::Constant(0x160) | uint64_t{AluLab::Constant(0x164)} << 32;
        EXPECT_EQ(a.pair(10, i), uint64_t{b.reg(4, i)} * b.reg(7, i) + addend);
      });
}

TEST(AluMultiply, WideCarries) {
  // IMAD.WIDE.U32 R12, P0, R16, R24, R12
  ExpectLanes(
      0x00000018100c7225, 0x003fde000780000c, 12,
      [](AluLab& w, int i) { return w.reg(16, i) * w.reg(24, i) + w.reg(12, i); },
      [](AluLab& b, AluLab& a, int i) {
        const u128 sum = u128{uint64_t{b.reg(16, i)} * b.reg(24, i)} + b.pair(12, i);
        EXPECT_EQ(a.pair(12, i), static_cast<uint64_t>(sum));
        EXPECT_EQ(a.pred(0, i), sum >> 64 != 0);
      });
  // IMAD.WIDE.U32.X R12, R21, R24, R12, P1
  ExpectLanes(
      0x00000018150c7225, 0x003fde00008e040c, 12,
      [](AluLab& w, int i) { return w.reg(21, i) * w.reg(24, i) + w.reg(12, i) + w.pred(1, i); },
      [](AluLab& b, AluLab& a, int i) {
        EXPECT_EQ(a.pair(12, i), uint64_t{b.reg(21, i)} * b.reg(24, i) + b.pair(12, i) + b.pred(1, i));
      });
}

TEST(AluMultiply, UpperWord) {
  // IMAD.HI R2, R3, -0x6db6db6d, R2
  ExpectLanes(0x9249249303027827, 0x020fca00078e0202, 2, [](AluLab& w, int i) {
    const auto product =
        static_cast<uint64_t>(int64_t{static_cast<int32_t>(w.reg(3, i))} * int32_t{-0x6db6db6d});
    return static_cast<uint32_t>((product + w.pair(2, i)) >> 32);
  });
  // IMAD.HI.U32 R8, R4, R21, RZ
  ExpectLanes(0x0000001504087227, 0x000fc600078e00ff, 8, [](AluLab& w, int i) {
    return static_cast<uint32_t>(uint64_t{w.reg(4, i)} * w.reg(21, i) >> 32);
  });
}

}  // namespace
}  // namespace sm89::emu
