// Scheduler, execution units, L1 tags, async-copy groups: each alone, cycle by cycle.
#include <gtest/gtest.h>

#include "sim/sm/exec_units.h"
#include "sim/sm/kernel_code.h"
#include "sim/sm/l1_cache.h"
#include "sim/sm/warp.h"
#include "sim/sm/warp_scheduler.h"

namespace sm89 {
namespace {

std::vector<uint8_t> OrderOf(const WarpScheduler& scheduler) {
  std::array<uint8_t, WarpScheduler::kMaxWarps> order;
  const uint32_t n = scheduler.Order(&order);
  return {order.begin(), order.begin() + n};
}

TEST(WarpSchedulerTest, GreedyThenYoungest) {
  WarpScheduler s(SchedulerPolicy::kGreedyYoungest);
  for (uint32_t w = 0; w < 4; ++w) {
    s.Add(w);
    s.MakeCandidate(w);
  }
  EXPECT_EQ(OrderOf(s), (std::vector<uint8_t>{3, 2, 1, 0}));
  s.Issued(1);
  EXPECT_EQ(OrderOf(s), (std::vector<uint8_t>{1, 3, 2, 0}));
  s.Block(1);
  EXPECT_EQ(OrderOf(s), (std::vector<uint8_t>{3, 2, 0}));
}

TEST(WarpSchedulerTest, RoundRobinBeginsBehindTheLast) {
  WarpScheduler s(SchedulerPolicy::kRoundRobin);
  for (uint32_t w = 0; w < 3; ++w) {
    s.Add(w);
    s.MakeCandidate(w);
  }
  s.Issued(0);
  EXPECT_EQ(OrderOf(s), (std::vector<uint8_t>{1, 2, 0}));
}

TEST(WarpSchedulerTest, SleepersWakeAtTheirCycleAlsoBeyondTheWheel) {
  WarpScheduler s(SchedulerPolicy::kGreedyYoungest);
  s.Add(5);
  s.Sleep(5, 100, 103);
  EXPECT_EQ(s.NextWake(100), 103u);
  EXPECT_EQ(s.WakeDue(102), 0u);
  EXPECT_EQ(s.WakeDue(103), 1u << 5);
  s.Sleep(5, 103, 103 + 1000);
  uint32_t awake = 0;
  Cycle now = 103;
  while (awake == 0) {
    const Cycle next = s.NextWake(now);
    ASSERT_GT(next, now);
    now = next;
    awake = s.WakeDue(now);
  }
  EXPECT_EQ(now, 1103u);
}

SmInst OnUnit(ExecUnit unit, uint16_t interval) {
  SmInst inst;
  inst.unit = unit;
  inst.interval_cycles = interval;
  return inst;
}

TEST(ExecUnitsTest, TwoHalfPipesTakeTwoFp32InARowThenWait) {
  Cycle fp64 = 0;
  ExecUnits units(&fp64);
  SmStats stats;
  const SmInst ffma = OnUnit(ExecUnit::kFp32, 2);
  EXPECT_EQ(units.EarliestIssue(ffma, 10), 10u);
  units.Reserve(ffma, 10, &stats);
  EXPECT_EQ(units.EarliestIssue(ffma, 11), 11u) << "the second half-pipe";
  units.Reserve(ffma, 11, &stats);
  EXPECT_EQ(units.EarliestIssue(ffma, 11), 12u);
}

TEST(ExecUnitsTest, IntegerUsesOnlyTheSharedHalf) {
  Cycle fp64 = 0;
  ExecUnits units(&fp64);
  SmStats stats;
  const SmInst iadd = OnUnit(ExecUnit::kInt, 2);
  units.Reserve(iadd, 10, &stats);
  EXPECT_EQ(units.EarliestIssue(iadd, 11), 12u);
  EXPECT_EQ(units.EarliestIssue(OnUnit(ExecUnit::kImad, 2), 11), 11u);
}

TEST(ExecUnitsTest, Fp64IsSharedByTheSubCores) {
  Cycle fp64 = 0;
  ExecUnits a(&fp64);
  const ExecUnits b(&fp64);
  SmStats stats;
  const SmInst dfma = OnUnit(ExecUnit::kFp64, 16);
  a.Reserve(dfma, 10, &stats);
  EXPECT_EQ(b.EarliestIssue(dfma, 11), 26u);
}

TEST(TensorTest, IntervalsGiveThePeakRatesOfTheWhitepaper) {
  const ExecConfig exec;
  const auto interval = [&](uint16_t m, uint16_t n, uint16_t k, TensorType type, bool fp32, bool sparse) {
    return TensorIntervalCycles({m, n, k, type, type, fp32, sparse}, exec);
  };
  // MACs / (MACs a cycle of one of four sub-cores): RTX 4090 whitepaper rates, TENS-002 .. TENS-016.
  EXPECT_EQ(interval(16, 8, 16, TensorType::kF16, false, false), 16u);
  EXPECT_EQ(interval(16, 8, 16, TensorType::kF16, true, false), 32u);
  EXPECT_EQ(interval(16, 8, 16, TensorType::kBf16, true, false), 32u);
  EXPECT_EQ(interval(16, 8, 8, TensorType::kTf32, true, false), 32u);
  EXPECT_EQ(interval(16, 8, 32, TensorType::kS8, false, false), 16u);
  EXPECT_EQ(interval(16, 8, 32, TensorType::kE4m3, false, false), 16u);
  EXPECT_EQ(interval(16, 8, 32, TensorType::kE4m3, true, false), 32u);
  EXPECT_EQ(interval(16, 8, 64, TensorType::kS4, false, false), 16u);
  EXPECT_EQ(interval(16, 8, 32, TensorType::kF16, false, true), 16u) << "sparse: twice the depth";
}

TEST(L1CacheTest, EvictsTheLeastRecentlyUsedAndReportsDirtySectors) {
  L1Cache cache(1, 2);
  cache.Reset(2);
  EXPECT_EQ(cache.Fill(1, 0x1, 0).dirty_mask, 0);
  EXPECT_EQ(cache.Fill(2, 0x0, 0xC).dirty_mask, 0);
  EXPECT_EQ(cache.Touch(1), 0x1);
  const L1Cache::Evicted evicted = cache.Fill(3, 0xF, 0);
  EXPECT_EQ(evicted.line, 2u);
  EXPECT_EQ(evicted.dirty_mask, 0xC);
  EXPECT_EQ(cache.Touch(2), 0);
  EXPECT_EQ(cache.Touch(1), 0x1);
  cache.Reset(2);
  EXPECT_EQ(cache.Touch(1), 0);
}

TEST(L1CacheTest, WithoutWaysNothingStays) {
  L1Cache cache(4, 8);
  cache.Reset(0);
  cache.Fill(1, 0xF, 0);
  EXPECT_EQ(cache.Touch(1), 0);
}

TEST(AsyncCopyGroupsTest, DepbarWaitsForAllButTheLastClosed) {
  AsyncCopyGroups groups;
  groups.Add();
  groups.Close();  // group 0
  groups.Add();
  groups.Add();
  groups.Close();  // group 1
  EXPECT_FALSE(groups.Drained(0));
  EXPECT_FALSE(groups.Drained(1));
  EXPECT_TRUE(groups.Drained(2));
  groups.Complete(0);
  EXPECT_TRUE(groups.Drained(1));
  EXPECT_FALSE(groups.Drained(0));
  groups.Complete(1);
  EXPECT_FALSE(groups.Drained(0));
  groups.Complete(1);
  EXPECT_TRUE(groups.Drained(0));
}

TEST(AsyncCopyGroupsTest, OutOfOrderCompletionHoldsTheOlderBack) {
  AsyncCopyGroups groups;
  groups.Add();
  groups.Close();
  groups.Add();
  groups.Close();
  groups.Complete(1);
  EXPECT_FALSE(groups.Drained(1));
}

}  // namespace
}  // namespace sm89
