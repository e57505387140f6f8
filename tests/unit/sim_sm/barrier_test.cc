// Barriers, fences, sleeping: cycle by cycle.
#include <gtest/gtest.h>

#include "tests/unit/sim_sm/sm_fixture.h"

namespace sm89 {
namespace {

using namespace testing;  // NOLINT: the fixture is the tests' language

using Cycles = std::vector<Cycle>;

const L1Config kL1 = LabConfig().l1;

std::vector<Cycles> IssuedByWarp(const std::vector<Program>& programs, Cycle end = 1'000'000) {
  SmLab lab;
  lab.Launch(programs);
  lab.Run(end);
  std::vector<Cycles> issued;
  for (size_t w = 0; w < programs.size(); ++w) issued.push_back(lab.Issued(w));
  return issued;
}

// A warp that reaches its barrier `cycles` cycles after its first issue.
Program After(Cycle cycles, const Program& then) {
  Program program;
  for (; cycles > 10; cycles -= 10) program.push_back(Nop().Stall(10));
  program.push_back(Nop().Stall(static_cast<uint32_t>(cycles)));
  return program + then;
}

TEST(Barrier, TwelveCyclesBehindArrivalsThatTakeTwoEach) {
  for (const uint32_t warps : {1u, 2u, 4u, 8u, 32u}) {
    for (const Cycles& issued : IssuedByWarp(std::vector<Program>(warps, {Barrier(), Nop()}))) {
      // Two, eight ... warps of a sub-core go on one after the other.
      EXPECT_GE(issued[1], 2 + 12 + 2 * warps);
      EXPECT_LT(issued[1], 2 + 12 + 2 * warps + (warps + 3) / 4);
    }
  }
  EXPECT_EQ(Span({Barrier(), Nop()}), 14u);
}

TEST(Barrier, WaitsForTheSlowestWarp) {
  const std::vector<Cycles> issued = IssuedByWarp({{Barrier(), Nop()}, After(100, {Barrier(), Nop()})});
  EXPECT_EQ(issued[0], (Cycles{2, 102 + 14}));
  EXPECT_EQ(issued[1].back(), 102u + 14);
}

TEST(Barrier, CanBePassedAgainAndAgain) {
  const Program program = Repeat(Barrier(), 5);
  for (const Cycles& issued : IssuedByWarp(std::vector<Program>(2, program))) {
    EXPECT_EQ(issued, (Cycles{2, 18, 34, 50, 66}));
  }
}

TEST(Barrier, WarpsThatHaveEndedAreNotWaitedFor) {
  const std::vector<Cycles> issued = IssuedByWarp({After(50, {Barrier(), Nop()}), {Nop()}, {}});
  EXPECT_EQ(issued[0].back(), 52u + 14);
}

TEST(Barrier, OpensWhenTheLastWarpElsewhereEnds) {
  const std::vector<Cycles> issued = IssuedByWarp({{Barrier(), Nop()}, After(100, {Nop()})});
  EXPECT_EQ(issued[0].back(), 102u + kL1.barrier_cycles);
}

TEST(Barrier, NamedOnesAreIndependent) {
  const std::vector<Cycles> issued = IssuedByWarp({{Barrier(1, 2), Nop()},
                                                   {Barrier(1, 2), Nop()},
                                                   {Barrier(2, 2), Nop()},
                                                   After(300, {Barrier(2, 2), Nop()})});
  // The SM takes the arrivals of cycle 2 one after the other, those at other barriers too.
  EXPECT_EQ(issued[0].back(), 2u + 12 + 4);
  EXPECT_EQ(issued[1].back(), 2u + 12 + 4);
  EXPECT_EQ(issued[2].back(), 302u + 14);
  EXPECT_EQ(issued[3].back(), 302u + 14);
}

TEST(Barrier, APartialOneWaitsForItsCountOnly) {
  const std::vector<Cycles> issued = IssuedByWarp(
      {{Barrier(3, 2), Nop()}, After(20, {Barrier(3, 2), Nop()}), After(500, {Nop()}), After(500, {Nop()})});
  EXPECT_EQ(issued[0].back(), 22u + 14);
  EXPECT_EQ(issued[1].back(), 22u + 14);
}

TEST(Barrier, APartialOneThatNotAllReachStaysClosed) {
  SmLab lab;
  lab.Launch({{Barrier(3, 3), Nop()}, {Barrier(3, 3), Nop()}, {Nop()}});
  lab.Run(10'000);
  EXPECT_EQ(lab.Issued(0).size(), 1u);
  EXPECT_EQ(lab.sm().NextEvent(lab.now()), kNever);
  EXPECT_FALSE(lab.sm().idle());
  EXPECT_NE(lab.sm().DescribeWarps(lab.now(), 10).find("barrier 3 has 2 of 3 warps"), std::string::npos)
      << lab.sm().DescribeWarps(lab.now(), 10);
}

TEST(BarrierArrive, CountsWithoutWaiting) {
  const std::vector<Cycles> issued =
      IssuedByWarp({{Barrier(1, 2), Nop()}, After(60, {Arrive(1, 2), Nop().Stall(1), Nop()})});
  EXPECT_EQ(issued[0].back(), 62u + 14);
  EXPECT_EQ(issued[1].back(), 64u) << "goes on at once";
}

TEST(BarrierArrive, OfAWarpThatThenEndsDoesNotOpenTheBarrierEarly) {
  const std::vector<Cycles> issued =
      IssuedByWarp({{Arrive(), Nop()}, {Barrier(), Nop()}, After(100, {Barrier(), Nop()})});
  EXPECT_EQ(issued[1].back(), 102u + 14);
  // Nor is it left over for the next time.
  const Program twice = After(100, {Barrier(), Nop().Stall(10), Barrier(), Nop()});
  const std::vector<Cycles> again = IssuedByWarp({{Arrive(), Nop()}, {Barrier(), Barrier(), Nop()}, twice});
  EXPECT_EQ(again[1][1], 102u + 14);
  EXPECT_EQ(again[1][2], again[2][again[2].size() - 2] + 14);
}

TEST(Barrier, AWarpWithoutActiveLanesPasses) {
  Inst off = Barrier();
  off.mask = 0;
  EXPECT_EQ(Span({off, Nop()}), 1u);
}

TEST(Membar, CostsByScope) {
  EXPECT_EQ(Span({Membar(Scope::kCta), Nop()}), 53u);
  EXPECT_EQ(Span({Membar(Scope::kGpu), Nop()}), 186u);
  EXPECT_EQ(Span({Membar(Scope::kSys), Nop()}), 2900u);
}

// Issue cycle of what follows store and fence when the store is acknowledged at `reply`; the fence issues
// at 3.
Cycle BehindFence(Scope scope, Cycle reply) {
  SmLab lab;
  lab.ReplyAt(kGlobal, reply);
  lab.Launch({{Stg(), Membar(scope), Nop()}});
  lab.Run();
  return lab.Issued().back();
}

TEST(Membar, BeyondTheCtaWaitsForPendingStores) {
  EXPECT_EQ(BehindFence(Scope::kCta, 5000), 3u + 53) << "the CTA sees them already";
  EXPECT_EQ(BehindFence(Scope::kGpu, 5000), 5000u);
  EXPECT_EQ(BehindFence(Scope::kGpu, 100), 3u + 186);
  EXPECT_EQ(BehindFence(Scope::kSys, 5000), 5000u);
  EXPECT_EQ(BehindFence(Scope::kSys, 1000), 3u + 2900);
}

TEST(Nanosleep, SleepsItsTimeOfTheCoreClock) {
  GpuConfig config = LabConfig();
  config.clocks.core_khz = 2'000'000;
  EXPECT_EQ(Span({Nanosleep(100), Nop()}, config), 200u);
  EXPECT_EQ(Span({Nanosleep(0), Nop()}, config), 1u);
  EXPECT_EQ(Span({Nanosleep(1'000'000), Nop()}, config), 2'000'000u);
  EXPECT_EQ(Span({Nanosleep(50'000'000), Nop()}, config), 2'000'000u) << "1 ms is the most";
}

}  // namespace
}  // namespace sm89
