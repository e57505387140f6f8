// Instructions across lanes, predicates in registers, the uniform datapath, tensor operands.
#include <bit>

#include "sim/num/mma.h"
#include "tests/unit/sim_emu/alu_lab.h"

namespace sm89::emu {
namespace {

// SHFL.DOWN PT, R5, R3, 0x10, 0x1f and what other modes make of it: mode in [59:58], amount in [57:53],
// bounds in [52:40], destination predicate in [83:81].
constexpr uint64_t kShuffleHi = 0x000fe20000000000;  // P0
constexpr uint64_t Shuffle(uint64_t mode, uint64_t amount, uint64_t bounds) {
  return 0x0000000003057f89 | mode << 58 | amount << 53 | bounds << 40;
}

struct ShuffleCase {
  uint64_t mode, amount, bounds;
  int lane, from;  // from: -1 = out of range
};

TEST(AluWarp, Shuffles) {
  const ShuffleCase cases[] = {
      {2, 16, 0x1f, 3, 19},   {2, 16, 0x1f, 20, -1},   // down
      {1, 1, 0, 5, 4},        {1, 1, 0, 0, -1},        // up
      {3, 4, 0x1f, 9, 13},    {3, 31, 0x1f, 0, 31},    // butterfly
      {0, 7, 0x1f, 30, 7},    {0, 0, 0x1f, 30, 0},     // index
      {0, 9, 0x181f, 20, 17},                          // index in groups of eight
      {2, 4, 0x181f, 18, 22}, {2, 4, 0x181f, 21, -1},  // down in groups of eight
      {1, 3, 0x1800, 10, -1}, {1, 2, 0x1800, 10, 8},   // up in groups of eight
  };
  for (const ShuffleCase& k : cases) {
    AluLab before(4), after(4);
    ASSERT_TRUE(after.Run(Shuffle(k.mode, k.amount, k.bounds), kShuffleHi).ok());
    SCOPED_TRACE(after.text + " lane " + std::to_string(k.lane));
    EXPECT_EQ(after.reg(5, k.lane), before.reg(3, k.from < 0 ? k.lane : k.from));
    EXPECT_EQ(after.pred(0, k.lane), k.from >= 0);
  }
}

TEST(AluWarp, ShuffleFromAnIdleLaneGivesZero) {
  AluLab before(4), after(4);
  ASSERT_TRUE(after.Run(Shuffle(3, 1, 0x1f), kShuffleHi, 0x0000ff01).ok());
  EXPECT_EQ(after.reg(5, 0), 0u) << "lane 1 does not execute";
  EXPECT_EQ(after.reg(5, 8), before.reg(3, 9));
  EXPECT_EQ(after.reg(5, 1), before.reg(5, 1));
}

TEST(AluWarp, Votes) {
  // VOTE.ANY R0, PT, PT; with P0 as the source ([89:87]) and P1 as the destination ([83:81])
  AluLab lab;
  lab.warp.pred[0] = 0x00ff00f0;
  const uint64_t any = 0x000fe20000020100;
  ASSERT_TRUE(lab.Run(0x0000000000007806, any, 0x0000ffff).ok());
  EXPECT_EQ(lab.reg(0, 3), 0x000000f0u);
  EXPECT_TRUE(lab.pred(1, 0));
  // VOTE.ALL ([73:72] = 0), then over lanes that all hold
  ASSERT_TRUE(lab.Run(0x0000000000007806, any & ~uint64_t{0x300}, 0x0000ffff).ok());
  EXPECT_FALSE(lab.pred(1, 0));
  ASSERT_TRUE(lab.Run(0x0000000000007806, any & ~uint64_t{0x300}, 0x000000f0).ok());
  EXPECT_TRUE(lab.pred(1, 4));
  // VOTEU.ANY UR4, UPT, PT: the executed lanes
  ASSERT_TRUE(lab.Run(0x0000000000047886, 0x000fe200038e0100, 0x00001234).ok());
  EXPECT_EQ(lab.warp.ur[4], 0x1234u);
}

TEST(AluWarp, Matches) {
  // MATCH.ANY R4, R5
  AluLab lab;
  for (int i = 0; i < kWarpSize; ++i) lab.reg(5, i) = static_cast<uint32_t>(i % 3);
  ASSERT_TRUE(lab.Run(0x00000000050473a1, 0x020e6200000e8000, 0x0000ffff).ok());
  EXPECT_EQ(lab.reg(4, 0), 0x9249u);
  EXPECT_EQ(lab.reg(4, 1), 0x2492u);
  // MATCH.ALL.U64 P1, R6, R2
  lab.Fill(2, 7);
  lab.Fill(3, 9);
  ASSERT_TRUE(lab.Run(0x00000000020673a1, 0x0000a20000020200, 0x0000ffff).ok());
  EXPECT_EQ(lab.reg(6, 0), 0xffffu);
  EXPECT_TRUE(lab.pred(1, 0));
  lab.reg(3, 5) = 8;
  ASSERT_TRUE(lab.Run(0x00000000020673a1, 0x0000a20000020200, 0x0000ffff).ok());
  EXPECT_EQ(lab.reg(6, 0), 0u);
  EXPECT_FALSE(lab.pred(1, 0));
}

TEST(AluWarp, Reductions) {
  // REDUX.SUM.S32 UR4, R4; REDUX.MAX.S32 UR4, R0; R2UR UR4, R10
  AluLab lab;
  for (int i = 0; i < kWarpSize; ++i) {
    lab.reg(4, i) = static_cast<uint32_t>(i);
    lab.reg(0, i) = static_cast<uint32_t>(i - 20);
    lab.reg(10, i) = static_cast<uint32_t>(100 + i);
  }
  ASSERT_TRUE(lab.Run(0x00000000040473c4, 0x000e22000000c200).ok());
  EXPECT_EQ(lab.warp.ur[4], 496u);
  ASSERT_TRUE(lab.Run(0x00000000000473c4, 0x000e300000014200, 0x0000ffff).ok());
  EXPECT_EQ(static_cast<int32_t>(lab.warp.ur[4]), -5);
  ASSERT_TRUE(lab.Run(0x000000000a0473c2, 0x00321e00000e0000, 0xfffffff0).ok());
  EXPECT_EQ(lab.warp.ur[4], 104u);
}

TEST(AluPredicates, ToRegisterAndBack) {
  // P2R R22, PR, RZ, 0x7f (mask of P2R R22, PR, RZ, 0x1 widened), then R2P PR, R22, 0x3
  AluLab before(6), lab(6);
  ASSERT_TRUE(lab.Run(0x0000007fff167803, 0x000fe20000000000).ok());
  for (int i = 0; i < kWarpSize; ++i) {
    uint32_t expected = 0;
    for (int p = 0; p < 7; ++p) expected |= (before.pred(p, i) ? 1u : 0u) << p;
    ASSERT_EQ(lab.reg(22, i), expected);
  }
  for (int p = 0; p < 7; ++p) lab.warp.pred[p] = 0;
  ASSERT_TRUE(lab.Run(0x0000000316007804, 0x000fe20000000000).ok());
  EXPECT_EQ(lab.warp.pred[0], before.warp.pred[0]);
  EXPECT_EQ(lab.warp.pred[1], before.warp.pred[1]);
  EXPECT_EQ(lab.warp.pred[2], 0u);
}

TEST(AluPredicates, TruthTable) {
  // PLOP3.LUT P0, PT, PT, PT, PT, 0x80 sets, 0x8 clears
  AluLab lab;
  ASSERT_TRUE(lab.Run(0x000000000000781c, 0x000fe20003f0f070).ok());
  EXPECT_EQ(lab.warp.pred[0], kAllLanes);
  ASSERT_TRUE(lab.Run(0x000000000000781c, 0x000fe40003f0e170, 0x0000ffff).ok());
  EXPECT_EQ(lab.warp.pred[0], 0xffff0000u);
  // PLOP3.LUT P0, PT, R22.SIGN, R27.SIGN, R31.SIGN, 0x2: only the third is negative
  for (int i = 0; i < kWarpSize; ++i) {
    lab.reg(22, i) = (i & 4) != 0 ? 0x80000000u : 1;
    lab.reg(27, i) = (i & 2) != 0 ? 0xffffffffu : 0;
    lab.reg(31, i) = (i & 1) != 0 ? 0x80000001u : 7;
  }
  ASSERT_TRUE(lab.Run(0x0000001b1600721f, 0x000fe2000070021f).ok());
  EXPECT_EQ(lab.warp.pred[0], 0x02020202u);
}

TEST(AluUniform, Arithmetic) {
  AluLab lab(3);
  const auto ur = [&](int r) -> uint32_t& { return lab.warp.ur[static_cast<size_t>(r)]; };
  // UIADD3 UR4, -UR5, UR6, URZ
  ur(5) = 7;
  ur(6) = 5;
  ASSERT_TRUE(lab.Run(0x0000000605047290, 0x000fe4000fffe13f).ok());
  EXPECT_EQ(ur(4), static_cast<uint32_t>(-2));
  // UIADD3.X UR7, URZ, UR7, URZ, UP0, !UPT
  lab.warp.upred[0] = true;
  ur(7) = 41;
  ASSERT_TRUE(lab.Run(0x000000073f077290, 0x000fe200087fe43f).ok());
  EXPECT_EQ(ur(7), 42u);
  // ULEA UR5, UR7, UR5, 0x18
  ur(5) = 0x400;
  ur(7) = 3;
  ASSERT_TRUE(lab.Run(0x0000000507057291, 0x001fc4000f8ec03f).ok());
  EXPECT_EQ(ur(5), 0x03000400u);
  // UIMAD.WIDE UR14, UR10, UR11, URZ
  ur(10) = static_cast<uint32_t>(-3);
  ur(11) = 0x40000000;
  ASSERT_TRUE(lab.Run(0x0000000b0a0e72a5, 0x000fe2000f8e023f).ok());
  EXPECT_EQ(ur(14) | uint64_t{ur(15)} << 32, static_cast<uint64_t>(int64_t{-3} * 0x40000000));
}

TEST(AluUniform, LogicAndComparisons) {
  AluLab lab(3);
  const auto ur = [&](int r) -> uint32_t& { return lab.warp.ur[static_cast<size_t>(r)]; };
  // USHF.L.U32 UR4, UR4, 0x6, URZ; ULOP3.LUT UR6, UR4, 0x3, URZ, 0xc0, !UPT; UPOPC UR5, UR4; UFLO.U32 UR5,
  // UR4
  ur(4) = 5;
  ASSERT_TRUE(lab.Run(0x0000000604047899, 0x001fe2000800063f).ok());
  EXPECT_EQ(ur(4), 320u);
  ASSERT_TRUE(lab.Run(0x00000004000572bf, 0x000fe20008000000).ok());
  EXPECT_EQ(ur(5), 2u);
  ASSERT_TRUE(lab.Run(0x00000004000572bd, 0x000fe200080e0000).ok());
  EXPECT_EQ(ur(5), 8u);
  // UBREV UR4, UR5 (the first lane of a vote: UBREV, then UFLO.SH)
  ur(5) = 0x00000140;
  ASSERT_TRUE(lab.Run(0x00000005000472be, 0x000fe20008000000).ok());
  EXPECT_EQ(ur(4), 0x02800000u);
  ur(4) = 0x1236;
  ASSERT_TRUE(lab.Run(0x0000000304067892, 0x000fe2000f8ec03f).ok());
  EXPECT_EQ(ur(6), 2u);
  // UISETP.GE.AND UP0, UPT, UR4, 0x3, UPT; USEL UR8, UR8, 0x1, !UP0
  ur(4) = 2;
  ASSERT_TRUE(lab.Run(0x000000030400788c, 0x000fcc000bf06270).ok());
  EXPECT_FALSE(lab.warp.upred[0]);
  ur(8) = 9;
  ASSERT_TRUE(lab.Run(0x0000000108087887, 0x000fe2000c000000).ok());
  EXPECT_EQ(ur(8), 9u);
  // UPRMT UR8, UR4, 0x9910, URZ: sign extension of a half
  ur(4) = 0x0000fffe;
  ASSERT_TRUE(lab.Run(0x0000991004087896, 0x000fe4000800003f).ok());
  EXPECT_EQ(ur(8), 0xfffffffeu);
  // UPLOP3.LUT UP0, UPT, UP1, UPT, UP0, 0xae, 0x0: p && q || !q ... index (UP1, 1, UP0)
  for (int k = 0; k < 4; ++k) {
    lab.warp.upred[1] = (k & 2) != 0;
    lab.warp.upred[0] = (k & 1) != 0;
    ASSERT_TRUE(lab.Run(0x000000000000789c, 0x000fe20000f0f506).ok());
    EXPECT_EQ(lab.warp.upred[0], (0xae >> ((k & 2) * 2 + 2 + (k & 1)) & 1) != 0) << k;
  }
}

TEST(AluSm90, AddAndMaximum) {
  // VIADD R4, R9, 0xffffffff; VIMNMX R9, RZ, R7, !PT
  const auto none = [](AluLab&, AluLab&, int) {};
  ExpectLanes(
      0xffffffff09047836, 0x040fe20000000000, 4, [](AluLab& w, int i) { return w.reg(9, i) - 1; }, none,
      sass::kSm90);
  ExpectLanes(
      0x00000007ff097248, 0x000fe40007fe0100, 9,
      [](AluLab& w, int i) { return static_cast<int32_t>(w.reg(7, i)) > 0 ? w.reg(7, i) : 0; }, none,
      sass::kSm90);
}

TEST(AluTensor, OperandRegisters) {
  // HMMA.16816.F32 R24, R16, R6, R24 with A = B = 1.0: every element of D is C + 16.
  AluLab lab;
  for (uint32_t r = 16; r < 20; ++r) lab.Fill(r, 0x3c003c00);
  for (uint32_t r = 6; r < 8; ++r) lab.Fill(r, 0x3c003c00);
  for (uint32_t r = 24; r < 28; ++r) {
    for (int i = 0; i < kWarpSize; ++i) {
      lab.reg(r, i) = std::bit_cast<uint32_t>(static_cast<float>(r) + static_cast<float>(i));
    }
  }
  ASSERT_TRUE(lab.Run(0x000000061018723c, 0x004fe60000001818).ok());
  for (uint32_t r = 24; r < 28; ++r) {
    for (int i = 0; i < kWarpSize; ++i) {
      EXPECT_EQ(std::bit_cast<float>(lab.reg(r, i)), static_cast<float>(r) + static_cast<float>(i) + 16);
    }
  }
  // IMMA.16832.S8.S8 R8, R12.ROW, R16.COL, R8 with A = 2, B = -3
  for (uint32_t r = 12; r < 16; ++r) lab.Fill(r, 0x02020202);
  for (uint32_t r = 16; r < 18; ++r) lab.Fill(r, 0xfdfdfdfd);
  for (uint32_t r = 8; r < 12; ++r) lab.Fill(r, r);
  ASSERT_TRUE(lab.Run(0x000000100c087237, 0x004ff60000405c08).ok());
  for (uint32_t r = 8; r < 12; ++r) EXPECT_EQ(lab.reg(r, 9), r - 192);
}

TEST(AluTensor, TransposeOfAMatrix) {
  // MOVM.16.MT88 R19, R18: lane l holds row l/4, columns 2(l%4) and the next.
  AluLab lab;
  for (int i = 0; i < kWarpSize; ++i) {
    const auto row = static_cast<uint32_t>(i / 4), col = static_cast<uint32_t>(i % 4 * 2);
    lab.reg(18, i) = (row * 16 + col) | (row * 16 + col + 1) << 16;
  }
  ASSERT_TRUE(lab.Run(0x000000001213723a, 0x001e220000000000).ok());
  for (int i = 0; i < kWarpSize; ++i) {
    const auto row = static_cast<uint32_t>(i / 4), col = static_cast<uint32_t>(i % 4 * 2);
    EXPECT_EQ(lab.reg(19, i), (col * 16 + row) | ((col + 1) * 16 + row) << 16);
  }
}

}  // namespace
}  // namespace sm89::emu
