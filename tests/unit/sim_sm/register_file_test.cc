// Register banks, read ports, the reuse cache and write-back, as numbers of core-model 1.3: one bubble for
// two operands of one bank, two for three; a load gives way to a fixed-latency result.
#include <gtest/gtest.h>

#include "tests/unit/sim_sm/sm_fixture.h"

namespace sm89 {
namespace {

using namespace testing;  // NOLINT: the fixture is the tests' language

using Cycles = std::vector<Cycle>;

// Cycles that 30 periods take in the steady state of one warp.
Cycle Thirty(const Program& period, const GpuConfig& config = LabConfig()) {
  Program program;
  for (int i = 0; i < 40; ++i) program.insert(program.end(), period.begin(), period.end());
  const Cycles issued = IssueCycles(program, config);
  return issued[35 * period.size()] - issued[5 * period.size()];
}

TEST(RegisterBanks, OperandsOfBothBanksCostNoBubble) {
  EXPECT_EQ(Thirty({Fp32().Reads(0, 1)}), 30u);
  EXPECT_EQ(Thirty({Fp32().Reads(4, 7)}), 30u);
  EXPECT_EQ(Thirty({Fp32().Reads(4)}), 30u);
}

TEST(RegisterBanks, FaddWithBothOperandsInOneBankCostsOneBubble) {
  EXPECT_EQ(Thirty({Fp32().Reads(0, 2)}), 60u);
  EXPECT_EQ(Thirty({Fp32().Reads(1, 3)}), 60u);
}

TEST(RegisterBanks, FfmaWithThreeOperandsInOneBankCostsTwoBubbles) {
  EXPECT_EQ(Thirty({Fp32().Reads(0, 2, 4)}), 90u);
  EXPECT_EQ(Thirty({Fp32().Reads(5, 3, 1)}), 90u);
}

TEST(RegisterBanks, FfmaOnThreeRegistersTakesTwoCycles) {
  // Two of three registers always share a bank (RTX 4090: 2.03).
  EXPECT_EQ(Thirty({Fp32().Reads(0, 1, 2)}), 60u);
  EXPECT_EQ(Thirty({Fp32().Reads(1, 2, 3)}), 60u);
}

TEST(RegisterBanks, OneRegisterInSeveralSlotsIsReadOnce) {
  EXPECT_EQ(Thirty({Fp32().Reads(2, 2)}), 30u);
  EXPECT_EQ(Thirty({Fp32().Reads(2, 2, 2)}), 30u);
  EXPECT_EQ(Thirty({Fp32().Reads(2, 4, 2)}), 60u);
}

TEST(RegisterBanks, TheWindowOfThreeCyclesHidesALoneConflict) {
  // Reads of one bank in cycles 3 and 4; the next instruction's three cycles are 4 to 6.
  EXPECT_EQ(Gaps(IssueCycles({Fp32().Reads(0, 2), Fp32().Reads(4, 6), Nop()})), (Cycles{1, 1}));
  // Three reads in 3, 4, 5, then two in 6 and 7 of 4 .. 6: one cycle later.
  EXPECT_EQ(Gaps(IssueCycles({Fp32().Reads(0, 2, 4), Fp32().Reads(6, 8), Nop()})), (Cycles{1, 2}));
}

TEST(RegisterBanks, ABubbleStopsEveryWarpOfTheSubCoreAndNoOther) {
  SmLab lab;
  lab.Launch({Repeat(Nop(), 9), Repeat(Nop(), 9), {}, {}, Repeat(Fp32().Reads(0, 2, 4), 3)});
  lab.Run();
  EXPECT_EQ(lab.Issued(4), (Cycles{2, 3, 6}));
  EXPECT_EQ(lab.Issued(0).front(), 9u) << "held behind the last FFMA too";
  EXPECT_EQ(lab.Issued(1).front(), 2u);
  EXPECT_EQ(lab.Stats().register_port_stall_cycles, 4u);
}

TEST(RegisterBanks, PortsAreASetting) {
  GpuConfig config = LabConfig();
  config.registers.read_ports = 2;
  EXPECT_EQ(Thirty({Fp32().Reads(0, 2)}, config), 30u);
  EXPECT_EQ(Thirty({Fp32().Reads(0, 2, 4)}, config), 45u) << "three reads, two a cycle";
  config.registers.read_ports = 0;
  EXPECT_EQ(Thirty({Fp32().Reads(0, 2, 4)}, config), 30u);
  config.registers.read_ports = 1;
  config.registers.banks = 4;
  EXPECT_EQ(Thirty({Fp32().Reads(0, 2)}, config), 30u);
  EXPECT_EQ(Thirty({Fp32().Reads(0, 4)}, config), 60u);
}

TEST(RegisterBanks, TensorOperandsOfFourRegistersAreReadInSixCycles) {
  // 12 registers, six of each bank: every cycle of the six is taken.
  Inst hmma = Fixed(Pipe::kTensor, 17, 1).Reads(0, 4, 8, 4);
  hmma.code.read_window_cycles = 6;
  EXPECT_EQ(Thirty({hmma}), 180u);
  // Reads in cycles 3 .. 8. The FADD behind it finds its ports free in 9, the last of 7 .. 9 instead of
  // 4 .. 6, and so holds the issue stage for three cycles.
  EXPECT_EQ(Gaps(IssueCycles({hmma, Fp32().Reads(0), Nop()})), (Cycles{1, 4}));
}

uint64_t ReuseHits(const Program& program, const GpuConfig& config = LabConfig()) {
  SmLab lab(config);
  lab.Launch({program});
  lab.Run();
  return lab.Stats().register_reuse_hits;
}

TEST(ReuseCache, ABitRemovesTheBubble) {
  EXPECT_EQ(Thirty({Fp32().Reads(0, 2).Reuse(0b001)}), 30u);
  EXPECT_EQ(Thirty({Fp32().Reads(0, 2, 4).Reuse(0b001)}), 60u);
  EXPECT_EQ(Thirty({Fp32().Reads(0, 2, 4).Reuse(0b110)}), 30u);
}

TEST(ReuseCache, HoldsARegisterForTheSameSlotOnly) {
  EXPECT_EQ(ReuseHits({Fp32().Reads(0, 1).Reuse(0b01), Fp32().Reads(0, 3)}), 1u);
  EXPECT_EQ(ReuseHits({Fp32().Reads(0, 1).Reuse(0b01), Fp32().Reads(3, 0)}), 0u);
  EXPECT_EQ(ReuseHits({Fp32().Reads(0, 1, 2).Reuse(0b111), Fp32().Reads(0, 1, 2)}), 3u);
  EXPECT_EQ(ReuseHits({Fp32().Reads(0, 1), Fp32().Reads(0, 1)}), 0u) << "no bit";
}

TEST(ReuseCache, AReadWithoutTheBitInvalidatesItsEntry) {
  const Inst keep = Fp32().Reads(0).Reuse(1);
  EXPECT_EQ(ReuseHits({keep, Fp32().Reads(0), Fp32().Reads(0)}), 1u) << "its own hit took it";
  EXPECT_EQ(ReuseHits({keep, keep, Fp32().Reads(0)}), 2u);
  EXPECT_EQ(ReuseHits({keep, Fp32().Reads(2), Fp32().Reads(0)}), 0u) << "another register of the bank";
  EXPECT_EQ(ReuseHits({keep, Fp32().Reads(1), Fp32().Reads(0)}), 1u) << "of the other bank";
  EXPECT_EQ(ReuseHits({keep, Fp32().Reads(-1, 2), Fp32().Reads(0)}), 1u) << "through another slot";
}

TEST(ReuseCache, HoldsARegisterForTheSameWarpOnly) {
  SmLab lab;
  const Inst keep = Fp32().Reads(0).Reuse(1).Stall(2);
  // The warps take turns and each takes the entry away from the other.
  lab.LaunchInOneSubCore({Repeat(keep, 5), Repeat(keep, 5)});
  lab.Run();
  EXPECT_EQ(lab.IssuedInOneSubCore(0).front(), 3u);
  EXPECT_EQ(lab.Stats().register_reuse_hits, 0u);
  EXPECT_EQ(lab.Stats().register_reads, 10u);
}

TEST(ReuseCache, IsASetting) {
  GpuConfig config = LabConfig();
  config.registers.reuse_cache = false;
  EXPECT_EQ(ReuseHits(Repeat(Fp32().Reads(0).Reuse(1), 4), config), 0u);
  EXPECT_EQ(Thirty({Fp32().Reads(0, 2).Reuse(0b001)}, config), 60u);
}

TEST(ReuseCache, AnEndedWarpsRegistersAreForgotten) {
  SmLab lab;
  for (int i = 0; i < 2; ++i) {
    lab.Launch({{Fp32().Reads(0).Reuse(1)}}, lab.now());
    lab.Run();
  }
  EXPECT_EQ(lab.Stats().register_reads, 2u);
  EXPECT_EQ(lab.Stats().register_reuse_hits, 0u);
}

// Cycles from the producer's issue to its counter's fall, when a fixed-latency result of register `reg` is
// written `at` cycles behind that issue.
Cycle FallBeside(const Inst& producer, uint32_t reg, uint32_t at) {
  Inst fixed = Fp32().Result(reg).Stall(1);
  return Span({Inst(producer).Write(0).Result(4).Stall(at - 4), fixed, Nop().Wait(1)});
}

TEST(WriteBack, AVariableLatencyResultGivesWayToAFixedLatencyOneOfItsBank) {
  const Inst mufu = Variable(Pipe::kSfu, 12, 8);
  EXPECT_EQ(FallBeside(mufu, 6, 12), 13u) << "same bank, same cycle";
  EXPECT_EQ(FallBeside(mufu, 7, 12), 12u) << "the other bank";
  EXPECT_EQ(FallBeside(mufu, 6, 11), 12u);
  EXPECT_EQ(FallBeside(mufu, 6, 13), 12u);
}

TEST(WriteBack, SoDoesALoadThatHits) {
  GpuConfig config = LabConfig();
  config.tlb.entries = 0;
  const Cycle hit = config.l1.latency_cycles;
  const auto fall = [&](uint32_t reg) {
    const Program program = {Ldg().Write(0).Stall(2),
                             Nop().Wait(1),
                             Ldg().Write(1).Result(4).Stall(2),
                             Nop().Stall(15).Yield(),
                             Nop().Stall(15).Yield(),
                             Fp32().Result(reg),
                             Nop().Wait(2)};
    const Cycles issued = IssueCycles(program, config);
    EXPECT_EQ(issued[5] + 4, issued[2] + hit) << "both results in one cycle";
    return issued[6] - issued[2];
  };
  EXPECT_EQ(fall(5), hit);
  EXPECT_EQ(fall(6), hit + 1);
}

TEST(WriteBack, SoDoesALoadThatMisses) {
  for (const uint32_t reg : {5u, 6u}) {
    SmLab lab;
    lab.ReplyAt(kGlobal, 400);
    lab.Launch({{Ldg().Write(0).Result(4).Stall(2), Nop().Wait(1)}});
    // Another warp of the sub-core: its result of the instruction issued at 408 and the line meet at 412.
    lab.Launch({{}, {}, {}, {Nop().Stall(3), Fp32().Result(reg)}}, 403);
    lab.Run();
    ASSERT_EQ(lab.Issued(3, 1), (Cycles{405, 408}));
    EXPECT_EQ(lab.Issued(0, 0).back(), 412u + (reg == 6 ? 1 : 0));
  }
}

TEST(WriteBack, TwoFixedLatencyResultsOfOneCycleAreBothInTime) {
  // HADD2 (5), then FADD (4): neither is delayed, nor what follows them.
  const Inst hadd2 = Fixed(Pipe::kHalf, 5, 2).Result(4);
  EXPECT_EQ(Gaps(IssueCycles({hadd2, Fp32().Result(6).Stall(4), Nop()})), (Cycles{1, 4}));
}

}  // namespace
}  // namespace sm89
