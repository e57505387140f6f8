// Which warp issues and when a pipe takes its next instruction: CGGTY, other policies, unit intervals.
#include <gtest/gtest.h>

#include "tests/unit/sim_sm/sm_fixture.h"

namespace sm89 {
namespace {

using namespace testing;  // NOLINT: the fixture is the tests' language

using Cycles = std::vector<Cycle>;

// Warps of one sub-core in the order of their ages, the youngest last.
std::vector<Cycles> IssuedBy(const std::vector<Program>& programs, SchedulerPolicy policy) {
  GpuConfig config = LabConfig();
  config.sm.scheduler = static_cast<uint32_t>(policy);
  SmLab lab(config);
  lab.LaunchInOneSubCore(programs);
  lab.Run();
  std::vector<Cycles> issued;
  for (size_t w = 0; w < programs.size(); ++w) issued.push_back(lab.IssuedInOneSubCore(w));
  return issued;
}

TEST(Scheduler, OneInstructionACycleAndSubCore) {
  SmLab lab;
  lab.Launch(std::vector<Program>(8, Repeat(Nop(), 4)));
  lab.Run();
  std::vector<int> by_cycle(20);
  for (size_t w = 0; w < 8; ++w) {
    for (const Cycle c : lab.Issued(w)) ++by_cycle.at(c);
  }
  for (Cycle c = 2; c < 10; ++c) EXPECT_EQ(by_cycle[c], 4) << c;
}

TEST(Scheduler, GreedyThenYoungest) {
  const std::vector<Program> three(3, Repeat(Nop(), 3));
  EXPECT_EQ(IssuedBy(three, SchedulerPolicy::kGreedyYoungest),
            (std::vector<Cycles>{{8, 9, 10}, {5, 6, 7}, {2, 3, 4}}));
}

TEST(Scheduler, StaysWithTheLastWarpEvenIfAYoungerOneIsReady) {
  const std::vector<Program> two = {Repeat(Nop(), 6), {Nop().Stall(4), Nop(), Nop()}};
  EXPECT_EQ(IssuedBy(two, SchedulerPolicy::kGreedyYoungest),
            (std::vector<Cycles>{{3, 4, 5, 6, 7, 8}, {2, 9, 10}}));
}

TEST(Scheduler, LeavesTheGreedyWarpWhenItStalls) {
  // The oldest is served last, whoever waited longer.
  const std::vector<Program> three(3, {Nop().Stall(3), Nop()});
  EXPECT_EQ(IssuedBy(three, SchedulerPolicy::kGreedyYoungest), (std::vector<Cycles>{{4, 7}, {3, 6}, {2, 5}}));
}

TEST(Scheduler, OldestFirst) {
  const std::vector<Program> three(3, Repeat(Nop(), 2));
  EXPECT_EQ(IssuedBy(three, SchedulerPolicy::kGreedyOldest), (std::vector<Cycles>{{2, 3}, {4, 5}, {6, 7}}));
}

TEST(Scheduler, RoundRobin) {
  const std::vector<Program> three(3, Repeat(Nop(), 2));
  EXPECT_EQ(IssuedBy(three, SchedulerPolicy::kRoundRobin), (std::vector<Cycles>{{2, 5}, {3, 6}, {4, 7}}));
}

TEST(Scheduler, ImadWideHoldsTheIssuePortForTwoCycles) {
  Inst wide = Imad();
  wide.code.issue_cycles = 2;
  EXPECT_EQ(Span({wide, Nop()}), 2u);
  EXPECT_EQ(IssuedBy({{Nop(), Nop()}, {wide.Stall(4), Nop()}}, SchedulerPolicy::kGreedyYoungest),
            (std::vector<Cycles>{{4, 5}, {2, 6}}))
      << "no warp issues in cycle 3";
}

// Cycles an instruction in the steady state of one warp.
void ExpectPeriod(const Program& period, Cycle cycles, const GpuConfig& config = LabConfig()) {
  Program program;
  for (int i = 0; i < 40; ++i) program.insert(program.end(), period.begin(), period.end());
  const Cycles issued = IssueCycles(program, config);
  const size_t n = period.size();
  EXPECT_EQ(issued[35 * n] - issued[5 * n], 30 * cycles);
}

TEST(Pipes, Fp32TakesOneACycleOnTwoHalfPipes) {
  ExpectPeriod({Fp32()}, 1);
  GpuConfig config = LabConfig();
  SmLab lab(config);
  lab.LaunchInOneSubCore({Repeat(Fp32(), 10), Repeat(Fp32(), 10)});
  lab.Run();
  EXPECT_EQ(lab.IssuedInOneSubCore(1), (Cycles{2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(lab.IssuedInOneSubCore(0), (Cycles{12, 13, 14, 15, 16, 17, 18, 19, 20, 21}));
}

TEST(Pipes, IntegersTakeTheirHalfPipeForTwoCycles) { ExpectPeriod({Int()}, 2); }
TEST(Pipes, ImadTakesTheOtherHalfPipeForTwoCycles) { ExpectPeriod({Imad()}, 2); }

TEST(Pipes, ImadAndFfmaInPairsTakeTwoCyclesAPair) {
  ExpectPeriod({Imad(), Fp32()}, 2);
  ExpectPeriod({Fp32(), Imad()}, 2);
}

TEST(Pipes, IntegerAndFfmaInPairsTakeTwoCyclesAPair) {
  ExpectPeriod({Int(), Fp32()}, 2);
  ExpectPeriod({Fp32(), Int()}, 2);
}

TEST(Pipes, IntegerAndImadTogetherFillBothHalves) { ExpectPeriod({Int(), Imad()}, 2); }

TEST(Pipes, IntegersOfTheirOwnPipeLeaveBothHalvesToFp32) {
  // Two FP32 a pair of cycles and an integer instruction beside them: the issue port is the limit.
  const Inst own = Fixed(Pipe::kAlu, 4, 2);
  ExpectPeriod({own, Fp32(), Fp32()}, 3);
  ExpectPeriod({own, Imad(), Fp32()}, 3);
  ExpectPeriod({own}, 2);
}

TEST(Pipes, IntervalsOfTheOtherUnits) {
  const ExecConfig exec;
  ExpectPeriod({Fixed(Pipe::kHalf, 5, exec.half.interval_cycles)}, 2);
  ExpectPeriod({Variable(Pipe::kSfu, 18, exec.sfu.interval_cycles)}, 8);
  ExpectPeriod({Fixed(Pipe::kUniform, 4, exec.uniform.interval_cycles)}, 2);
  ExpectPeriod({Fixed(Pipe::kTensor, 33, 32)}, 32);
  ExpectPeriod({Fixed(Pipe::kTensor, 17, 16), Fp32()}, 16);
  ExpectPeriod({Variable(Pipe::kSfu, 18, 8), Fp32(), Int(), Fixed(Pipe::kHalf, 5, 2)}, 8);
}

TEST(Pipes, APipeIsOneForAllWarpsOfASubCoreAndOneInEachSubCore) {
  SmLab lab;
  const Inst mufu = Variable(Pipe::kSfu, 18, 8);
  lab.Launch(std::vector<Program>(8, Repeat(mufu, 2)));
  lab.Run();
  for (size_t sub = 0; sub < 4; ++sub) {
    Cycles all = lab.Issued(sub);
    for (const Cycle c : lab.Issued(sub + 4)) all.push_back(c);
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, (Cycles{2, 10, 18, 26})) << sub;
  }
}

TEST(Pipes, AWarpThatWaitsForItsConstantGivesUpItsPlaceAtTheSpecialFunctionUnit) {
  // Both old warps are refused while the young one's MUFU occupies the unit. The first of them then misses
  // its constant, for 79 cycles; the second one issues in the next.
  const Inst mufu = Variable(Pipe::kSfu, 18, 8);
  SmLab lab;
  lab.LaunchInOneSubCore({{Inst(mufu).Constant(0)}, {mufu}, {mufu}});
  lab.Run();
  EXPECT_EQ(lab.IssuedInOneSubCore(2), Cycles{2});
  EXPECT_EQ(lab.IssuedInOneSubCore(1), Cycles{11});
  EXPECT_EQ(lab.IssuedInOneSubCore(0), Cycles{10 + 79});
}

// Issue cycles of `each` FP64 instructions in each sub-core, over all sub-cores.
Cycles Fp64Issues(bool shared, uint32_t interval, size_t each) {
  GpuConfig config = LabConfig();
  config.exec.fp64_shared = shared;
  SmLab lab(config);
  lab.Launch(std::vector<Program>(4, Repeat(Variable(Pipe::kFp64, 54, interval), each)));
  lab.Run();
  Cycles all;
  for (size_t w = 0; w < 4; ++w) {
    for (const Cycle c : lab.Issued(w)) all.push_back(c);
  }
  std::sort(all.begin(), all.end());
  return all;
}

TEST(Pipes, Fp64OfAGeForceIsOneForTheSm) {
  const Cycles all = Fp64Issues(true, 16, 3);
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], 2 + 16 * i);
}

TEST(Pipes, NoSubCoreStarvesAtTheSharedFp64Unit) {
  SmLab lab;
  lab.Launch(std::vector<Program>(4, Repeat(Variable(Pipe::kFp64, 54, 16), 20)));
  lab.Run(2 + 4 * 16 * 5);
  for (size_t w = 0; w < 4; ++w) EXPECT_EQ(lab.Issued(w).size(), 5u) << w;
}

TEST(Pipes, Fp64InEachSubCore) {
  EXPECT_EQ(Fp64Issues(false, 2, 3), (Cycles{2, 2, 2, 2, 4, 4, 4, 4, 6, 6, 6, 6}));
}

}  // namespace
}  // namespace sm89
