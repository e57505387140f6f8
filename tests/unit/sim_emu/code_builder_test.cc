#include "tests/unit/sim_emu/code_builder.h"

#include <gtest/gtest.h>

#include "sim/sass/decode.h"

namespace sm89::emu {
namespace {

TEST(CodeBuilder, WritesTheInstructionsThatItSays) {
  CodeBuilder b;
  b.Tid(3).CtaidX(4).Mov(5, 0x7).Add(6, 7, 0x9, {1, true}).Mad(8, 9, 0xa, 10).And(2, 3, 0x1f);
  b.Shr(4, 5, 0x3).NotZero(2, 9).Address(4, 3, 7, 1).Stg(4, 9, 0x10).Ldg(9, 4).Lds(1, 2, 0x4);
  b.Sts(1, 2).Ldl(3, 1, 0x8).Stl(1, 3).Exit({0, false}).Yield().Nop().Trap().Warpsync(0xff);
  b.Bsync(1).Break(2, {3, false}).BarSync(1, 64).BarArrive(2, 96).BarPopc(0, 1).BarResult(7).Brx(18);
  const char* const expected[] = {
      "S2R R3, SR_TID.X",
      "S2R R4, SR_CTAID.X",
      "MOV R5, 0x7",
      "@!P1 IADD3 R6, R7, 0x9, RZ",
      "IMAD R8, R9, 0xa, R10",
      "LOP3.LUT R2, R3, 0x1f, RZ, 0xc0, !PT",
      "SHF.R.U32.HI R4, RZ, 0x3, R5",
      "ISETP.NE.U32.AND P2, PT, R9, RZ, PT",
      "IMAD.WIDE.U32 R4, R3, R7, c[0x0][0x168]",
      "STG.E [R4.64+0x10], R9",
      "LDG.E R9, [R4.64]",
      "LDS R1, [R2+0x4]",
      "STS [R1], R2",
      "LDL R3, [R1+0x8]",
      "STL [R1], R3",
      "@P0 EXIT",
      "YIELD",
      "NOP",
      "BPT.TRAP 0x1",
      "WARPSYNC 0xff",
      "BSYNC B1",
      "@P3 BREAK B2",
      "BAR.SYNC.DEFER_BLOCKING 0x1, 0x40",
      "BAR.ARV 0x2, 0x60",
      "BAR.RED.POPC.DEFER_BLOCKING 0x0, P1",
      "B2R.RESULT R7",
      "BRX R18 0x0",
  };
  ASSERT_EQ(b.size(), std::size(expected));
  for (size_t i = 0; i < b.size(); ++i) {
    const auto inst = sass::Decode({b.words()[i].first, b.words()[i].second}, 89);
    ASSERT_TRUE(inst.ok()) << expected[i] << ": " << inst.status();
    EXPECT_EQ(sass::Print(*inst, {}), expected[i]);
  }
}

TEST(CodeBuilder, BranchesReachTheirLabels) {
  CodeBuilder b;
  b.Label("back").Bssy(1, "end").Bra("end").Bra("back").Label("end").Exit();
  b.Build();
  const uint64_t targets[] = {0x30, 0x30, 0x0};
  for (size_t i = 0; i < 3; ++i) {
    const auto inst = sass::Decode({b.words()[i].first, b.words()[i].second}, 89);
    ASSERT_TRUE(inst.ok()) << inst.status();
    ASSERT_NE(inst->Target(), nullptr);
    EXPECT_EQ(static_cast<uint64_t>(inst->Target()->value) + 16 * (i + 1), targets[i]);
  }
}

}  // namespace
}  // namespace sm89::emu
