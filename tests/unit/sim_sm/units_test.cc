// Scheduler, execution units, L1 tags, async-copy groups: each alone, cycle by cycle.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "sim/sm/exec_units.h"
#include "sim/sm/kernel_code.h"
#include "sim/sm/l1_cache.h"
#include "sim/sm/refusal_queue.h"
#include "sim/sm/timeline.h"
#include "sim/sm/warp.h"
#include "sim/sm/warp_scheduler.h"

namespace sm89 {
namespace {

// Candidates in the order in which the scheduler prefers them.
std::vector<uint32_t> OrderOf(const WarpScheduler& scheduler) {
  std::vector<uint32_t> order;
  for (uint32_t rest = scheduler.candidates(); rest != 0;) {
    order.push_back(scheduler.Pick(rest));
    rest &= ~(1u << order.back());
  }
  return order;
}

WarpScheduler FourCandidates(SchedulerPolicy policy) {
  WarpScheduler s(policy);
  for (uint32_t w = 0; w < 4; ++w) {
    s.Add(w);
    s.MakeCandidate(w);
  }
  return s;
}

TEST(WarpSchedulerTest, GreedyThenYoungest) {
  WarpScheduler s = FourCandidates(SchedulerPolicy::kGreedyYoungest);
  EXPECT_EQ(OrderOf(s), (std::vector<uint32_t>{3, 2, 1, 0}));
  s.Issued(1);
  EXPECT_EQ(OrderOf(s), (std::vector<uint32_t>{1, 3, 2, 0}));
  s.Block(1);
  EXPECT_EQ(OrderOf(s), (std::vector<uint32_t>{3, 2, 0}));
}

TEST(WarpSchedulerTest, AgeIsTheOrderOfArrivalNotTheSlot) {
  WarpScheduler s = FourCandidates(SchedulerPolicy::kGreedyYoungest);
  s.Remove(0);
  s.Add(0);
  s.MakeCandidate(0);
  EXPECT_EQ(OrderOf(s), (std::vector<uint32_t>{0, 3, 2, 1}));
}

TEST(WarpSchedulerTest, TheLastWarpIsForgottenWhenItLeaves) {
  WarpScheduler s = FourCandidates(SchedulerPolicy::kGreedyYoungest);
  s.Issued(1);
  s.Remove(1);
  EXPECT_EQ(s.last(), WarpScheduler::kMaxWarps);
  EXPECT_EQ(OrderOf(s), (std::vector<uint32_t>{3, 2, 0}));
}

TEST(WarpSchedulerTest, GreedyThenOldest) {
  WarpScheduler s = FourCandidates(SchedulerPolicy::kGreedyOldest);
  EXPECT_EQ(OrderOf(s), (std::vector<uint32_t>{0, 1, 2, 3}));
  s.Issued(2);
  EXPECT_EQ(OrderOf(s), (std::vector<uint32_t>{2, 0, 1, 3}));
}

TEST(WarpSchedulerTest, RoundRobinBeginsBehindTheLast) {
  WarpScheduler s = FourCandidates(SchedulerPolicy::kRoundRobin);
  s.Issued(0);
  EXPECT_EQ(OrderOf(s), (std::vector<uint32_t>{1, 2, 3, 0}));
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

TEST(WarpSchedulerTest, SleepSaysWhenToLookAgain) {
  WarpScheduler s(SchedulerPolicy::kGreedyYoungest);
  s.Add(0);
  EXPECT_EQ(s.Sleep(0, 100, 110), 110u);
  EXPECT_EQ(s.WakeDue(110), 1u);
  const Cycle look = s.Sleep(0, 110, 400);
  EXPECT_LT(look, 400u) << "beyond the wheel";
  EXPECT_EQ(s.WakeDue(look), 0u);
  EXPECT_GT(s.NextWake(look), look);
}

SmInst OnPipe(Pipe pipe, uint16_t interval) {
  SmInst inst;
  inst.pipe = pipe;
  inst.interval_cycles = interval;
  return inst;
}

TEST(BusyTimeTest, ClosedCyclesAreThoseInWhichOthersAreTurnedAway) {
  BusyTime busy;
  busy.OccupyUntil(10, 14);  // closed in 11, 12, 13
  EXPECT_EQ(busy.free(), 14u);
  EXPECT_EQ(busy.ClosedBefore(11), 0u);
  EXPECT_EQ(busy.ClosedBefore(13), 2u);
  EXPECT_EQ(busy.ClosedBefore(14), 3u);
  EXPECT_EQ(busy.ClosedBefore(100), 3u);
  busy.OccupyUntil(20, 21);  // free again in the next cycle: turns nobody away
  EXPECT_EQ(busy.ClosedBefore(100), 3u);
}

TEST(BusyTimeTest, OverlappingReservationsCountOnce) {
  BusyTime busy;
  busy.OccupyUntil(10, 18);
  busy.OccupyUntil(12, 20);
  busy.OccupyUntil(13, 15);
  EXPECT_EQ(busy.free(), 20u);
  EXPECT_EQ(busy.ClosedBefore(100), 9u) << "11 .. 19";
}

TEST(ExecUnitsTest, TwoHalfPipesTakeTwoFp32InARowThenWait) {
  BusyTime fp64;
  ExecUnits units(&fp64);
  SmStats stats;
  const SmInst ffma = OnPipe(Pipe::kEither, 2);
  units.Reserve(ffma, 10, &stats);
  EXPECT_LE(units.Of(Pipe::kEither).free(), 11u) << "the second half-pipe";
  units.Reserve(ffma, 11, &stats);
  EXPECT_EQ(units.Of(Pipe::kLite).free(), 12u) << "first the half without the multiplier";
  EXPECT_EQ(units.Of(Pipe::kFma).free(), 13u);
  EXPECT_EQ(units.Of(Pipe::kEither).free(), 12u);
}

TEST(ExecUnitsTest, IntegerUsesOnlyTheSharedHalf) {
  BusyTime fp64;
  ExecUnits units(&fp64);
  SmStats stats;
  units.Reserve(OnPipe(Pipe::kLite, 2), 10, &stats);
  EXPECT_EQ(units.Of(Pipe::kLite).free(), 12u);
  EXPECT_LE(units.Of(Pipe::kFma).free(), 11u);
  EXPECT_LE(units.Of(Pipe::kEither).free(), 11u);
}

TEST(ExecUnitsTest, Fp64IsSharedByTheSubCoresOrTheirOwn) {
  BusyTime fp64;
  ExecUnits a(&fp64);
  const ExecUnits b(&fp64);
  SmStats stats;
  a.Reserve(OnPipe(Pipe::kFp64, 16), 10, &stats);
  EXPECT_EQ(b.Of(Pipe::kFp64).free(), 26u);
  ExecUnits own(nullptr);
  const ExecUnits other(nullptr);
  own.Reserve(OnPipe(Pipe::kFp64, 2), 10, &stats);
  EXPECT_EQ(own.Of(Pipe::kFp64).free(), 12u);
  EXPECT_EQ(other.Of(Pipe::kFp64).free(), 0u);
}

TEST(RefusalQueueTest, ServesInTheOrderOfRefusal) {
  RefusalQueue queue;
  EXPECT_EQ(queue.Admit(0b1111, false), 0b1111u) << "nobody was refused";
  EXPECT_EQ(queue.Admit(0b0100, true), 0u);
  EXPECT_EQ(queue.Admit(0b1101, true), 0u) << "0 and 3 come behind 2";
  EXPECT_EQ(queue.Admit(0b1111, false), 0b0100u);
  queue.Remove(2);
  EXPECT_EQ(queue.Admit(0b1111, false), 0b0001u);
  queue.Remove(0);
  EXPECT_EQ(queue.Admit(0b1000, false), 0b1000u);
  queue.Remove(3);
  queue.Remove(5);
  EXPECT_EQ(queue.Admit(0b0010, false), 0b0010u) << "refused while others waited";
  queue.Remove(1);
  EXPECT_EQ(queue.Admit(0b0101, false), 0b0100u) << "and 2, which came again behind 1";
  queue.Remove(2);
  queue.Remove(0);
  EXPECT_TRUE(queue.order().empty());
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

TEST(AsyncCopyGroupsTest, CountersFallOldestGroupFirst) {
  AsyncCopyGroups groups;
  groups.Add();
  groups.Close(0);  // group 0
  groups.Add();
  groups.Add();
  groups.Close(3);  // group 1
  uint8_t counter = 7;
  EXPECT_FALSE(groups.TakeDone(&counter));
  groups.Complete(1);
  groups.Complete(1);
  EXPECT_FALSE(groups.TakeDone(&counter)) << "the older group is under way";
  groups.Complete(0);
  ASSERT_TRUE(groups.TakeDone(&counter));
  EXPECT_EQ(counter, 0);
  ASSERT_TRUE(groups.TakeDone(&counter));
  EXPECT_EQ(counter, 3);
  EXPECT_FALSE(groups.TakeDone(&counter)) << "no further group is closed";
}

TEST(AsyncCopyGroupsTest, AnOpenGroupIsNeverDone) {
  AsyncCopyGroups groups;
  uint8_t counter = 7;
  groups.Add();
  groups.Complete(0);
  EXPECT_FALSE(groups.TakeDone(&counter));
  groups.Close(2);
  ASSERT_TRUE(groups.TakeDone(&counter));
  EXPECT_EQ(counter, 2);
}

TEST(AsyncCopyGroupsTest, RoomForSixtyThreeClosedGroups) {
  AsyncCopyGroups groups;
  uint32_t closed = 0;
  while (groups.CanClose()) {
    groups.Close(0);
    ++closed;
  }
  EXPECT_EQ(closed, 63u);
  uint8_t counter = 0;
  ASSERT_TRUE(groups.TakeDone(&counter)) << "an empty group is complete";
  EXPECT_TRUE(groups.CanClose());
}

TEST(DependenceCountersTest, ARaiseIsSeenFromTheSecondCycleOn) {
  DependenceCounters counters;
  counters.Raise(2, 100, WarpState::kLongScoreboard);
  EXPECT_EQ(counters.Pending(0b100, 101), 0) << "Control raises it one cycle behind the issue";
  EXPECT_EQ(counters.Value(2, 101), 0u);
  EXPECT_EQ(counters.Pending(0b100, 102), 0b100);
  EXPECT_EQ(counters.Value(2, 102), 1u);
  counters.Raise(2, 104, WarpState::kLongScoreboard);
  EXPECT_EQ(counters.Pending(0b100, 105), 0b100) << "the first producer is seen";
  EXPECT_EQ(counters.Value(2, 105), 1u);
  EXPECT_FALSE(counters.Lower(2));
  EXPECT_TRUE(counters.Lower(2)) << "0";
  EXPECT_EQ(counters.Pending(0b111111, 200), 0);
}

TEST(DependenceCountersTest, OneInstructionRaisesTwoAndSixtyThreeFit) {
  DependenceCounters counters;
  counters.Raise(0, 10, WarpState::kShortScoreboard);
  counters.Raise(5, 10, WarpState::kLongScoreboard);
  EXPECT_EQ(counters.Pending(0b100001, 11), 0);
  EXPECT_EQ(counters.Pending(0b100001, 12), 0b100001);
  EXPECT_EQ(counters.Reason(0b100000), WarpState::kLongScoreboard);
  for (Cycle c = 20; counters.Value(5, c + 2) < 63; ++c) counters.Raise(5, c, WarpState::kLongScoreboard);
  ControlBits bits;
  bits.write_counter = 5;
  EXPECT_EQ(counters.Full(bits), 0b100000);
  EXPECT_TRUE(counters.Lower(5)) << "one more may raise it";
  EXPECT_EQ(counters.Full(bits), 0);
  bits.read_counter = 5;
  EXPECT_EQ(counters.Full(bits), 0b100000) << "by two at once";
  EXPECT_TRUE(counters.Lower(5));
  EXPECT_EQ(counters.Full(bits), 0);
  for (int i = 0; i < 60; ++i) EXPECT_FALSE(counters.Lower(5));
  EXPECT_TRUE(counters.Lower(5)) << "0";
}

TEST(TimelineTest, TakesTheFirstFreeCycles) {
  Timeline t;
  const auto take = [&](Cycle at, Cycle cycles) {
    const Timeline::Booking booking = t.Take(at, cycles);
    return std::pair(booking.begin, booking.end);
  };
  using Range = std::pair<Cycle, Cycle>;
  EXPECT_EQ(take(10, 2), Range(10, 12));
  EXPECT_EQ(take(10, 2), Range(12, 14));
  EXPECT_EQ(take(20, 3), Range(20, 23)) << "14 to 19 stay free";
  EXPECT_EQ(take(11, 3), Range(14, 17));
  EXPECT_EQ(take(0, 4), Range(0, 4)) << "so do those in front";
  EXPECT_EQ(take(13, 4), Range(17, 24)) << "17 to 19, then 23";
  EXPECT_EQ(take(5, 1), Range(5, 6));
  EXPECT_EQ(take(4, 6), Range(4, 25)) << "4, 6 to 9, 24";
  EXPECT_EQ(take(0, 1), Range(25, 26));
}

// Against a table of cycles, whatever is asked within the queues' reach.
TEST(TimelineTest, BooksNoCycleTwiceAndLeavesNoneThatWouldDo) {
  Timeline t;
  std::vector<bool> taken(60'000, false);
  uint64_t random = 12345;
  for (Cycle now = 0; now < 30'000; now += random >> 60) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const Cycle at = now + (random >> 33) % 60;
    const Cycle cycles = 1 + (random >> 50) % 6;
    Cycle first = kNever;
    Cycle end = at;
    for (Cycle left = cycles; left != 0; ++end) {
      if (taken[end]) continue;
      taken[end] = true;
      first = std::min(first, end);
      --left;
    }
    const Timeline::Booking booking = t.Take(at, cycles);
    ASSERT_EQ(booking.begin, first) << now;
    ASSERT_EQ(booking.end, end) << now;
  }
}

}  // namespace
}  // namespace sm89
