// Control bits as "Analyzing Modern NVIDIA GPU Cores" (MICRO 2025) describes them: stall counts, yield,
// dependence counters, DEPBAR, LDGSTS groups.
#include <gtest/gtest.h>

#include "tests/unit/sim_sm/sm_fixture.h"

namespace sm89 {
namespace {

using namespace testing;  // NOLINT: the fixture is the tests' language

using Cycles = std::vector<Cycle>;

// A producer whose result is announced by a counter `latency` cycles after its issue.
Inst Producer(uint32_t latency, uint32_t counter) { return Variable(Pipe::kNone, latency, 0).Write(counter); }

TEST(StallCount, TheNextInstructionOfTheWarpIssuesThatMuchLater) {
  EXPECT_EQ(IssueCycles({Nop()}), Cycles{2}) << "decoded two cycles after the launch";
  for (uint32_t stall = 1; stall <= 15; ++stall) {
    Inst inst = Nop().Stall(stall);
    if (stall > 11) inst.Yield();
    EXPECT_EQ(Span({inst, Nop()}), stall);
  }
}

TEST(StallCount, ZeroWithoutYieldIsOneCycle) { EXPECT_EQ(Span({Nop().Stall(0), Nop()}), 1u); }

TEST(StallCount, ZeroWithYieldIsFortyFiveCycles) { EXPECT_EQ(Span({Nop().Stall(0).Yield(), Nop()}), 45u); }

TEST(StallCount, AboveElevenWithoutYieldIsTwoCycles) {
  for (uint32_t stall = 12; stall <= 15; ++stall) EXPECT_EQ(Span({Nop().Stall(stall), Nop()}), 2u) << stall;
  EXPECT_EQ(Span({Nop().Stall(11), Nop()}), 11u);
}

TEST(Yield, LeavesOneBubbleWhenTheWarpIsAlone) { EXPECT_EQ(Span({Nop().Yield(), Nop()}), 2u); }

TEST(Yield, DoesNotAddToALongerStall) {
  for (uint32_t stall = 2; stall <= 11; ++stall) EXPECT_EQ(Span({Nop().Stall(stall).Yield(), Nop()}), stall);
}

TEST(Yield, AnotherWarpFillsTheBubble) {
  SmLab lab;
  lab.LaunchInOneSubCore({Repeat(Nop().Yield(), 3), Repeat(Nop().Yield(), 3)});
  lab.Run();
  EXPECT_EQ(lab.IssuedInOneSubCore(1), (Cycles{2, 4, 6}));
  EXPECT_EQ(lab.IssuedInOneSubCore(0), (Cycles{3, 5, 7}));
}

TEST(DependenceCounter, IsRaisedOneCycleBehindTheIssue) {
  // Control raises it: the direct follower does not see it, one a cycle later does.
  EXPECT_EQ(Span({Producer(20, 0), Nop().Wait(0b1)}), 1u);
  EXPECT_EQ(Span({Producer(20, 0).Stall(2), Nop().Wait(0b1)}), 20u);
  EXPECT_EQ(Span({Producer(20, 0).Yield(), Nop().Wait(0b1)}), 20u);
}

TEST(DependenceCounter, ADependentInstructionIssuesInTheCycleInWhichItFalls) {
  for (const uint32_t latency : {7u, 8u, 18u, 100u, 1500u}) {
    EXPECT_EQ(Span({Producer(latency, 5).Stall(2), Nop().Wait(0b100000)}), latency);
  }
}

TEST(DependenceCounter, TheReadCounterFallsWhenTheSourcesHaveBeenRead) {
  // Control, latch, three read cycles and the release: six cycles for units outside the memory pipeline.
  EXPECT_EQ(Span({Variable(Pipe::kNone, 50, 0).Read(1).Stall(2), Nop().Wait(0b10)}), 6u);
}

TEST(DependenceCounter, AMaskWaitsForAllItsCountersAndForNoOthers) {
  const Program producers = {Producer(10, 0), Producer(40, 1), Producer(30, 2).Stall(2)};
  const auto wait = [&](uint32_t mask) { return Span(producers + Program{Nop().Wait(mask)}); };
  EXPECT_EQ(wait(0b000), 4u);
  EXPECT_EQ(wait(0b001), 10u);
  EXPECT_EQ(wait(0b100), 2u + 30);
  EXPECT_EQ(wait(0b101), 2u + 30);
  EXPECT_EQ(wait(0b111), 1u + 40);
  EXPECT_EQ(wait(0b111000), 4u) << "counters that nobody raised";
}

TEST(DependenceCounter, CountsProducersUpToSixtyThree) {
  for (const uint32_t n : {1u, 2u, 63u}) {
    Program program = Repeat(Producer(200, 3), n);
    program.back().Stall(2);
    program.push_back(Nop().Wait(0b1000));
    EXPECT_EQ(Span(program), n - 1 + 200) << n;
  }
}

TEST(DependenceCounter, WhoWouldRaiseItBeyondSixtyThreeWaits) {
  // The first result comes in cycle 502.
  const Cycles issued = IssueCycles(Repeat(Producer(500, 3), 65));
  EXPECT_EQ(issued[62], 2u + 62);
  EXPECT_EQ(issued[63], 2u + 500);
  EXPECT_EQ(issued[64], 2u + 501) << "the second one's";
  const Program others = Repeat(Producer(500, 3), 63) + Program{Producer(10, 2)};
  EXPECT_EQ(IssueCycles(others).back(), 2u + 63) << "another counter";
  const Program twice = Repeat(Producer(500, 3), 62) + Program{Producer(10, 3).Read(3)};
  EXPECT_EQ(IssueCycles(twice).back(), 2u + 500) << "its result and its reading";
}

TEST(DependenceCounter, ResultsMayComeInAnyOrder) {
  EXPECT_EQ(Span({Producer(100, 0), Producer(10, 0).Stall(2), Nop().Wait(0b1)}), 100u);
  EXPECT_EQ(Span({Producer(10, 0), Producer(100, 0).Stall(2), Nop().Wait(0b1)}), 101u);
}

TEST(DependenceCounter, StartsAtZeroInEachWarp) {
  SmLab lab;
  lab.LaunchInOneSubCore({{Producer(500, 0).Stall(2), Nop().Wait(0b1)}, {Nop().Stall(9), Nop().Wait(0b1)}});
  lab.Run();
  EXPECT_EQ(Gaps(lab.IssuedInOneSubCore(0)), Cycles{500});
  EXPECT_EQ(Gaps(lab.IssuedInOneSubCore(1)), Cycles{9});
}

TEST(Depbar, WaitsUntilAtMostSoManyAreUnderWay) {
  // In flight until 50, 61 and 72 cycles after the first issue.
  const Program producers = {Producer(50, 0), Producer(60, 0), Producer(70, 0).Stall(2)};
  const auto depbar = [&](int64_t allowed) { return Span(producers + Program{Depbar(0, allowed)}); };
  EXPECT_EQ(depbar(3), 4u);
  EXPECT_EQ(depbar(2), 50u);
  EXPECT_EQ(depbar(1), 1u + 60);
  EXPECT_EQ(depbar(0), 2u + 70);
}

TEST(Depbar, EveryListedCounterMustBeZeroToo) {
  const Program producers = {Producer(50, 0), Producer(60, 0), Producer(90, 4), Producer(80, 5).Stall(2)};
  const auto depbar = [&](int64_t allowed, uint32_t list) {
    return Span(producers + Program{Depbar(0, allowed, list)});
  };
  EXPECT_EQ(depbar(1, 0), 50u);
  EXPECT_EQ(depbar(1, 0b010000), 2u + 90);
  EXPECT_EQ(depbar(1, 0b100000), 3u + 80);
  EXPECT_EQ(depbar(2, 0b110000), 2u + 90);
}

TEST(Depbar, NeedsAStallOfTwoBehindTheLastProducer) {
  EXPECT_EQ(Span({Producer(50, 0), Depbar(0, 0)}), 1u) << "not yet counted";
  EXPECT_EQ(Span({Producer(50, 0).Stall(2), Depbar(0, 0)}), 50u);
}

TEST(Depbar, AnInstructionOfOneCycleInFrontDoesNotHideOlderOnes) {
  EXPECT_EQ(Span({Producer(50, 0), Producer(1, 0), Depbar(0, 0)}), 50u);
  EXPECT_EQ(Span({Producer(1, 0), Depbar(0, 0)}), 1u);
  EXPECT_EQ(Span({Producer(1, 0).Stall(2), Depbar(0, 0)}), 2u);
}

TEST(Depbar, SeesTheLdgdepbarRightInFrontOfIt) {
  SmLab lab;
  lab.ReplyAt(kGlobal, 400);
  lab.ReplyAt(kGlobal + 4096, 800);
  const Program groups = {Ldgsts(4, kGlobal), Ldgdepbar(0), Ldgsts(4, kGlobal + 4096), Ldgdepbar(0)};
  lab.Launch({groups + Program{Depbar(0, 1).Stall(4), Depbar(0, 0)}});
  lab.Run();
  const Cycle to_shared = 12 + 39 - 36;  // fill, then from the hit latency to LDGSTS's own
  const Cycles issued = lab.Issued();
  EXPECT_EQ(issued[3], issued[0] + 3);
  EXPECT_EQ(issued[4], 400 + to_shared + 2);
  EXPECT_EQ(issued[5], 800 + to_shared + 2);
  EXPECT_EQ(Span({Ldgdepbar(0), Depbar(0, 0)}), 2u) << "an empty group";
}

// LDGSTS of two lines, each its own group.
Program TwoGroups() {
  return {Ldgsts(4, kGlobal), Ldgdepbar(0).Stall(2), Ldgsts(4, kGlobal + 4096), Ldgdepbar(0).Stall(2)};
}
constexpr Cycle kReplyToShared = 12 + 39 - 36;  // fill, then from the hit latency to LDGSTS's own

// Cycle at which DEPBAR.LE SB0, allowed behind the two groups issues.
Cycle DepbarIssue(int64_t allowed, Cycle first_reply, Cycle second_reply) {
  SmLab lab;
  lab.ReplyAt(kGlobal, first_reply);
  lab.ReplyAt(kGlobal + 4096, second_reply);
  lab.Launch({TwoGroups() + Program{Depbar(0, allowed)}});
  lab.Run();
  return lab.Issued().back();
}

TEST(AsyncCopy, GroupsFallInTheirOrder) {
  // A group's counter falls two cycles after its data have reached shared memory.
  constexpr Cycle kToCounter = kReplyToShared + 2;
  EXPECT_EQ(DepbarIssue(1, 400, 900), 400 + kToCounter);
  EXPECT_EQ(DepbarIssue(0, 400, 900), 900 + kToCounter);
  EXPECT_EQ(DepbarIssue(1, 900, 400), 900 + kToCounter) << "the older group holds the younger back";
  EXPECT_EQ(DepbarIssue(0, 900, 400), 900 + kToCounter);
  EXPECT_LT(DepbarIssue(2, 400, 900), 20u);
}

TEST(AsyncCopy, AGroupWithoutCopiesIsDoneAtOnce) {
  EXPECT_EQ(Span({Ldgdepbar(0).Stall(2), Depbar(0, 0)}), 2u);
}

TEST(AsyncCopy, ALateCopyBelongsToTheNextGroup) {
  SmLab lab;
  lab.ReplyAt(kGlobal, 400);
  lab.ReplyAt(kGlobal + 4096, SmLab::kNoReply);
  lab.Launch({{Ldgsts(4, kGlobal), Ldgdepbar(0).Stall(2), Ldgsts(4, kGlobal + 4096).Stall(2), Depbar(0, 0)}});
  lab.Run(2000);
  ASSERT_EQ(lab.Issued().size(), 4u) << "the open group is not waited for";
  EXPECT_EQ(lab.Issued().back(), 400 + kReplyToShared + 2);
}

}  // namespace
}  // namespace sm89
