// Comparisons, selections and minima.
#include "tests/unit/sim_emu/alu_lab.h"

namespace sm89::emu {
namespace {

int32_t Signed(uint32_t v) { return static_cast<int32_t>(v); }

// Predicate `p` of executed lanes equals expect(before, lane); others keep theirs.
template <typename Expect>
void ExpectPredicate(uint64_t lo, uint64_t hi, int p, Expect expect) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    AluLab before(seed), after(seed);
    const LaneMask lanes = seed % 3 == 0 ? static_cast<LaneMask>(before.Next()) : kAllLanes;
    const absl::Status status = after.Run(lo, hi, lanes);
    ASSERT_TRUE(status.ok()) << status;
    for (int i = 0; i < kWarpSize; ++i) {
      const bool executed = (lanes >> i & 1) != 0;
      ASSERT_EQ(after.pred(p, i), executed ? expect(before, i) : before.pred(p, i))
          << after.text << " lane " << i << " seed " << seed;
    }
  }
}

TEST(AluCompare, SignedAndUnsigned) {
  // ISETP.LT.AND P0, PT, R7, R5, PT
  ExpectPredicate(0x000000050700720c, 0x003fde0003f01270, 0,
                  [](AluLab& w, int i) { return Signed(w.reg(7, i)) < Signed(w.reg(5, i)); });
  // ISETP.GE.U32.AND P1, PT, R4, 0x3, PT
  ExpectPredicate(0x000000030400780c, 0x000fe40003f26070, 1,
                  [](AluLab& w, int i) { return w.reg(4, i) >= 3; });
}

TEST(AluCompare, CombinesWithPredicate) {
  // ISETP.GE.OR P0, PT, R2, c[0x0][0x168], P0
  ExpectPredicate(0x00005a0002007a0c, 0x000fda0000706670, 0, [](AluLab& w, int i) {
    return Signed(w.reg(2, i)) >= Signed(AluLab::Constant(0x168)) || w.pred(0, i);
  });
  // ISETP.GT.U32.XOR P0, PT, R5, R8, !P0
  ExpectPredicate(0x000000080500720c, 0x001fda0004704870, 0,
                  [](AluLab& w, int i) { return (w.reg(5, i) > w.reg(8, i)) != !w.pred(0, i); });
}

TEST(AluCompare, UpperWordsFallBackOnLowerResult) {
  // ISETP.GT.U32.AND.EX P1, PT, R3, R5, PT, P1; R5 made equal to R3 in half of the lanes.
  for (uint64_t seed = 1; seed < 8; ++seed) {
    AluLab lab(seed);
    for (int i = 0; i < kWarpSize; i += 2) lab.reg(5, i) = lab.reg(3, i);
    const LaneMask low = lab.warp.pred[1];
    ASSERT_TRUE(lab.Run(0x000000050300720c, 0x000fe40003f24110).ok());
    for (int i = 0; i < kWarpSize; ++i) {
      const uint32_t a = lab.reg(3, i), b = lab.reg(5, i);
      EXPECT_EQ(lab.pred(1, i), a > b || (a == b && (low >> i & 1) != 0)) << lab.text;
    }
  }
}

TEST(AluSelect, ByPredicate) {
  // SEL R6, RZ, 0xffffffff, !P0
  ExpectLanes(0xffffffffff067807, 0x000fe40004000000, 6,
              [](AluLab& w, int i) { return w.pred(0, i) ? 0xffffffffu : 0u; });
  // FSEL R2, R4, R2, P0
  ExpectLanes(0x0000000204027208, 0x000fe40000000000, 2,
              [](AluLab& w, int i) { return w.reg(w.pred(0, i) ? 4 : 2, i); });
  // IMNMX R7, RZ, R3, !PT
  ExpectLanes(0x00000003ff077217, 0x000fe40007800200, 7,
              [](AluLab& w, int i) { return static_cast<uint32_t>(std::max(0, Signed(w.reg(3, i)))); });
}

TEST(AluSelect, Moves) {
  // MOV R1, c[0x0][0x28]
  ExpectLanes(0x00000a0000017a02, 0x000fe40000000f00, 1, [](AluLab&, int) { return AluLab::Constant(0x28); });
  // IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28]
  ExpectLanes(0x00000a00ff017624, 0x000fe400078e00ff, 1, [](AluLab&, int) { return AluLab::Constant(0x28); });
}

TEST(AluSelect, WritesToRzVanish) {
  AluLab before(3), after(3);
  // LOP3.LUT P0, RZ, R8, 0x1, RZ, 0xc0, !PT: only the predicate changes.
  ASSERT_TRUE(after.Run(0x0000000108ff7812, 0x040fe4000780c0ff).ok());
  for (int i = 0; i < kWarpSize; ++i) {
    EXPECT_EQ(after.pred(0, i), (before.reg(8, i) & 1) != 0);
    for (uint32_t r = 0; r < AluLab::kRegs; ++r) ASSERT_EQ(after.reg(r, i), before.reg(r, i));
    for (uint32_t z = 0; z < kZeroRows; ++z) ASSERT_EQ(after.reg(AluLab::kRegs + z, i), 0u);
  }
}

TEST(AluCompile, NotItsOwnAndNotImplemented) {
  // EXIT is control flow.
  AluLab lab;
  EXPECT_EQ(lab.Run(0x000000000000794d, 0x000fea0003800000).code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace sm89::emu
