// Instruction and constant supply: numbers of core-model 1.2 and 1.5.
#include <gtest/gtest.h>

#include "tests/unit/sim_sm/sm_fixture.h"

namespace sm89 {
namespace {

using namespace testing;  // NOLINT: the fixture is the tests' language

using Cycles = std::vector<Cycle>;

GpuConfig WithCaches(uint32_t stream_buffer_lines = 0) {
  GpuConfig config = ModelConfig();
  config.front.stream_buffer_lines = stream_buffer_lines;
  return config;
}
constexpr size_t kLine = 8;  // instructions of a 128-byte line
const FrontEndConfig kFront = ModelConfig().front;

TEST(InstructionCache, ColdCodeComesFromTheL2) {
  EXPECT_EQ(IssueCycles({Nop()}, WithCaches()),
            Cycles{kFront.l1_miss_cycles + kFront.l0_miss_cycles + kFront.fetch_decode_cycles});
}

// A warp in sub-core 0 that executes `program` at 0, and the issue cycles of one that does so in sub-core 1
// from 100,000 on, when the SM's L1 has the code.
Cycles WithWarmL1(const Program& program, const GpuConfig& config) {
  SmLab lab(config);
  lab.Launch({program});
  lab.Launch({program}, 100'000);
  lab.Run();
  Cycles issued = lab.Issued(0, 1);
  for (Cycle& c : issued) c -= 100'000;
  return issued;
}

TEST(InstructionCache, AnL0MissThatHitsTheL1) {
  const Cycles issued = WithWarmL1(Repeat(Nop(), kLine), WithCaches());
  EXPECT_EQ(issued.front(), 78u + 2) << "39 cycles each way, then decode";
  EXPECT_EQ(issued.back(), 78u + 2 + 7);
}

TEST(InstructionCache, L0HitsAreFreeAcrossLines) {
  Program program = Repeat(Nop(), 3 * kLine);
  Program again = program;
  again.front().At(0);
  Cycles gaps = Gaps(IssueCycles(program + again, WithCaches()));
  gaps.erase(gaps.begin(), gaps.begin() + 3 * kLine - 1);
  EXPECT_EQ(gaps.front(), 10u) << "back to the first line";
  gaps.erase(gaps.begin());
  EXPECT_EQ(gaps, Cycles(3 * kLine - 1, 1));
}

TEST(InstructionCache, TheBufferAsksForALineWhenTheInstructionThreeAheadHasIssued) {
  // The line of instruction 8 is asked for one cycle behind the issue of instruction 5.
  const Cycles issued = WithWarmL1(Repeat(Nop(), 2 * kLine), WithCaches());
  EXPECT_EQ(issued[8], issued[5] + 1 + 78 + 2);
  GpuConfig config = WithCaches();
  config.front.ibuffer_entries = 1;
  const Cycles one = WithWarmL1(Repeat(Nop(), 2 * kLine), config);
  EXPECT_EQ(one[8], one[7] + 1 + 78 + 2);
}

// Cycles that `lines` lines of straight-line code take in the steady state, L1 warm.
Cycle StraightLine(uint32_t stream_buffer_lines, size_t lines) {
  const Cycles issued = WithWarmL1(Repeat(Nop(), 60 * kLine), WithCaches(stream_buffer_lines));
  return issued[(20 + lines) * kLine] - issued[20 * kLine];
}

TEST(StreamBuffer, WithoutOneEveryLineWaitsForTheL1) { EXPECT_EQ(StraightLine(0, 10), 10u * (8 + 78)); }

TEST(StreamBuffer, SoManyLinesComeWithEachMiss) {
  // A line is requested one cycle behind the look-up of the line N places ahead of it, and looked up itself
  // two cycles before the last instruction of the line in front: N + 1 lines in 78 + 9 cycles.
  EXPECT_EQ(StraightLine(1, 2 * 5), 5u * 87);
  EXPECT_EQ(StraightLine(3, 4 * 5), 5u * 87);
  EXPECT_EQ(StraightLine(8, 9 * 3), 3u * 87);
}

TEST(StreamBuffer, LongEnoughItHidesTheL1) { EXPECT_EQ(StraightLine(16, 20), 20u * 8); }

SmStats FrontStats(const Program& program, const GpuConfig& config) {
  SmLab lab(config);
  lab.Launch({program});
  lab.Run();
  return lab.Stats();
}

TEST(StreamBuffer, HitsAtItsHeadAndIsDroppedByAnotherStream) {
  const Program straight = Repeat(Nop(), 3 * kLine);
  SmStats stats = FrontStats(straight, WithCaches(8));
  EXPECT_EQ(stats.icache_l0_accesses, 3u);
  EXPECT_EQ(stats.icache_l0_misses, 3u);
  EXPECT_EQ(stats.icache_prefetch_hits, 2u);
  Program detour = Repeat(Nop(), kLine) + Repeat(Nop(), kLine) + Repeat(Nop(), kLine);
  detour[kLine].At(100 * 128);
  detour[2 * kLine].At(128);
  stats = FrontStats(detour, WithCaches(8));
  EXPECT_EQ(stats.icache_l0_misses, 3u);
  EXPECT_EQ(stats.icache_prefetch_hits, 0u) << "line 1 was dropped for the lines behind line 100";
}

TEST(StreamBuffer, ALineThatAWarpWaitsForPassesTheDroppedStream) {
  // A line enters the L0 every 20 cycles: those behind line 0 are still coming when the warp jumps.
  GpuConfig config = WithCaches(8);
  config.front.l0_fill_interval_cycles = 20;
  const Cycles issued = WithWarmL1({Nop(), Nop().At(100 * 128)}, config);
  EXPECT_EQ(issued, (Cycles{78 + 2, 78 + 2 + 10 + 78}));
}

TEST(StreamBuffer, SoDoesTheStreamBehindIt) {
  // Two warps of sub-core 1: the stream behind cold line 0 would ask for its lines when line 0 has come, 240
  // cycles later; the other warp's lines are in the L1.
  SmLab lab(WithCaches(8));
  Program straight = Repeat(Nop(), 2 * kLine);
  straight.front().At(200 * 128);
  lab.Launch({straight});
  lab.LaunchInOneSubCore({{Nop()}, straight}, 100'000);
  lab.Run();
  Cycles issued = lab.Issued(4, 1);
  EXPECT_EQ(issued.front(), 100'000u + 1 + 78 + 2) << "a cycle behind the other request";
  EXPECT_EQ(Gaps(issued), Cycles(2 * kLine - 1, 1));
}

TEST(InstructionCache, EachSubCoreHasItsL0AndTheSmOneL1) {
  SmLab lab(WithCaches());
  lab.Launch(std::vector<Program>(4, Repeat(Nop(), kLine)));
  lab.Run();
  EXPECT_EQ(lab.Stats().icache_l0_misses, 4u);
  EXPECT_EQ(lab.Stats().icache_l1_misses, 1u);
}

TEST(InstructionCache, AnotherKernelFindsItEmpty) {
  SmLab lab(WithCaches());
  for (uint32_t kernel = 0; kernel < 2; ++kernel) {
    const Cycle start = lab.now();
    lab.Launch({{Nop()}}, start, kernel);
    lab.Run();
    EXPECT_EQ(lab.Issued(0, kernel), Cycles{start + 320});
  }
  const Cycle start = lab.now();
  lab.Launch({{Nop()}}, start, 1);
  lab.Run();
  EXPECT_EQ(lab.Issued(0, 2), Cycles{start + 2}) << "the same kernel's code is there";
}

TEST(InstructionCache, KernelsThatRanSideBySideFindTheirCode) {
  SmLab lab(WithCaches());
  lab.Launch({{Nop()}}, 0, 0);
  lab.Launch({{Nop()}}, 0, 1);  // sub-core 1
  lab.Run();
  const Cycle first = lab.now();
  lab.Launch({{Nop()}}, first, 1);
  lab.Run();
  EXPECT_EQ(lab.Issued(0, 2), Cycles{first + 78 + 2}) << "sub-core 0: from the L1";
  const Cycle second = lab.now();
  lab.Launch({{Nop()}}, second, 0);
  lab.Run();
  EXPECT_EQ(lab.Issued(0, 3), Cycles{second + 2});
}

// Statistics of two rounds through one instruction in each of `lines` lines.
SmStats TwoRounds(uint32_t lines) {
  Program program;
  for (uint32_t i = 0; i < 2 * lines; ++i) program.push_back(Nop().At(i % lines * 128));
  return FrontStats(program, WithCaches());
}

TEST(InstructionCache, TheL0HoldsThirtyTwoKibibytes) {
  EXPECT_EQ(TwoRounds(256).icache_l0_misses, 256u);
  EXPECT_EQ(TwoRounds(256 + 8).icache_l0_misses, 2u * 264) << "a line too many in each of eight sets";
}

TEST(InstructionCache, TheL1HoldsAHundredAndTwentyEightKibibytes) {
  EXPECT_EQ(TwoRounds(1024).icache_l1_misses, 1024u);
  EXPECT_EQ(TwoRounds(1024).icache_l0_misses, 2048u);
  EXPECT_EQ(TwoRounds(1024 + 64).icache_l1_misses, 2u * 1088) << "a line too many in each of 64 sets";
}

TEST(Redirect, ATakenBranchTakesTenCycles) {
  EXPECT_EQ(Span({Nop(), Nop().At(512)}), 10u);
  EXPECT_EQ(Span({Nop().At(512), Nop().At(0)}), 10u);
  EXPECT_EQ(Span({Nop(), Nop().At(0)}), 10u) << "a branch to itself";
  EXPECT_EQ(Span({Nop().Stall(5), Nop().At(512)}), 10u) << "the branch's own stall is in them";
  EXPECT_EQ(Span({Nop().Stall(14).Yield(), Nop().At(512)}), 14u);
}

TEST(Redirect, ABranchThatSomeLanesTakeRedirectsThoseThatGoOnToo) {
  Inst bra = Control(ControlOp::kBranch).Stall(5);
  EXPECT_EQ(Span({bra, Nop()}), 10u);
  bra.mask = 0;
  EXPECT_EQ(Span({bra, Nop()}), 5u) << "not taken by any";
}

TEST(Redirect, ConvergenceHoldsTheWarpAlsoOnItsWay) {
  Inst bsync = Control(ControlOp::kConvergence).Stall(5);
  bsync.code.reconverges = true;
  EXPECT_EQ(Span({bsync, Nop()}), kFront.convergence_cycles);
  EXPECT_EQ(Span({Control(ControlOp::kConvergence).Stall(5), Nop()}), 5u) << "BSSY";
}

TEST(ConstantOperand, AHitIsFreeAColdMissTakesSeventyNineCycles) {
  const Cycles issued = IssueCycles({Fp32().Constant(0), Fp32().Constant(60), Fp32().Constant(64), Nop()});
  EXPECT_EQ(issued, (Cycles{2 + 79, 2 + 79 + 1, 2 + 79 + 2 + 79, 2 + 79 + 3 + 79}));
}

TEST(ConstantOperand, BanksAreDifferentLines) {
  EXPECT_EQ(Gaps(IssueCycles({Fp32().Constant(0, 0), Fp32().Constant(0, 3)})), Cycles{1 + 79});
}

TEST(ConstantOperand, AnL0MissThatHitsTheL1TakesElevenCycles) {
  SmLab lab;
  lab.Launch({{Fp32().Constant(0)}});
  lab.Launch({{Fp32().Constant(0)}}, 200);  // sub-core 1
  lab.Run();
  EXPECT_EQ(lab.Issued(0, 1), Cycles{200 + 2 + 11});
  EXPECT_EQ(lab.Stats().constant_l0_misses, 2u);
  EXPECT_EQ(lab.Stats().constant_l1_misses, 1u);
}

TEST(ConstantOperand, TwoWaysHoldTwoLinesOfASet) {
  // 512 bytes of 64-byte lines, two ways: lines 256 bytes apart share a set.
  const auto last = [](uint32_t between) {
    Program program = {Fp32().Constant(0)};
    for (uint32_t i = 1; i <= between; ++i) program.push_back(Fp32().Constant(256 * i));
    program.push_back(Fp32().Constant(0));
    return Gaps(IssueCycles(program)).back();
  };
  EXPECT_EQ(last(1), 1u);
  EXPECT_EQ(last(2), 1u + 11) << "evicted from the L0, still in the L1";
}

TEST(ConstantOperand, TheL1HoldsTwoKibibytes) {
  const auto misses = [](uint32_t lines) {
    Program program;
    for (uint32_t i = 0; i < 2 * lines; ++i) program.push_back(Fp32().Constant(i % lines * 64));
    SmLab lab;
    lab.Launch({program});
    lab.Run();
    return lab.Stats().constant_l1_misses;
  };
  EXPECT_EQ(misses(32), 32u);
  EXPECT_EQ(misses(32 + 4), 2u * 36) << "a line too many in each of four sets of eight ways";
}

TEST(ConstantOperand, TheGreedyWarpsMissHoldsThePortFourCyclesThenAnotherWarpIssues) {
  SmLab lab;
  lab.LaunchInOneSubCore({Repeat(Nop(), 3), {Nop(), Fp32().Constant(0)}});
  lab.Run();
  EXPECT_EQ(lab.IssuedInOneSubCore(1), (Cycles{2, 3 + 79}));
  EXPECT_EQ(lab.IssuedInOneSubCore(0), (Cycles{7, 8, 9})) << "the miss was seen in cycle 3";
}

TEST(ConstantOperand, AMissOfAnotherWarpThanTheGreedyOneHoldsNothing) {
  SmLab lab;
  lab.LaunchInOneSubCore({Repeat(Nop(), 3), {Fp32().Constant(0)}});
  lab.Run();
  EXPECT_EQ(lab.IssuedInOneSubCore(1), (Cycles{2 + 79}));
  EXPECT_EQ(lab.IssuedInOneSubCore(0), (Cycles{2, 3, 4}));
}

}  // namespace
}  // namespace sm89
