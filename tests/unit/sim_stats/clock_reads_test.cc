// Differences of clock reads: exact figures, bounded memory, order does not matter.
#include "sim/stats/clock_reads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace sm89 {
namespace {

TEST(ClockReadsTest, FiguresCountThreads) {
  ClockReads reads;
  for (int i = 0; i < 3; ++i) reads.AddRead();
  reads.AddDifference(0x20, 0x40, 100, 32);
  reads.AddDifference(0x20, 0x40, 10, 1);
  reads.AddDifference(0x10, 0x40, 7, 2);
  const ClockReadSummary s = reads.Summary();
  EXPECT_EQ(s.warp_instructions, 3u);
  ASSERT_EQ(s.pairs.size(), 2u);
  EXPECT_EQ(s.pairs[0].pc_first, 0x10u) << "by program counter";
  EXPECT_EQ(s.pairs[1].warps, 2u);
  EXPECT_EQ(s.pairs[1].threads, 33u);
  EXPECT_EQ(s.pairs[1].min_cycles, 10u);
  EXPECT_EQ(s.pairs[1].median_cycles, 100u) << "32 of 33 threads saw it";
  EXPECT_EQ(s.pairs[1].max_cycles, 100u);
  EXPECT_EQ(s.pairs[1].resolution_cycles, 1u);
}

TEST(ClockReadsTest, NothingReadIsNothingToShow) {
  EXPECT_FALSE(ClockReads().Summary().any());
  ClockReads one;
  one.AddRead();
  EXPECT_TRUE(one.Summary().any());
}

TEST(ClockReadsTest, EvenCountsGiveTheLowerMiddle) {
  ClockHistogram h;
  for (const uint64_t v : {4u, 1u, 3u, 2u}) h.Add(v, 1);
  EXPECT_EQ(h.MedianCycles(), 2u);
}

TEST(ClockReadsTest, ManyDifferentValuesCostResolutionNotMemory) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> values(50'000);
  for (uint64_t& v : values) v = 1000 + random() % 1'000'000;
  ClockHistogram forward;
  for (const uint64_t v : values) forward.Add(v, 1);
  ClockHistogram backward;
  for (auto v = values.rbegin(); v != values.rend(); ++v) backward.Add(*v, 1);
  EXPECT_EQ(forward.MedianCycles(), backward.MedianCycles());
  EXPECT_EQ(forward.resolution_cycles(), backward.resolution_cycles());
  EXPECT_EQ(forward.resolution_cycles(), 256u) << "a million values in 4,096 bins";
  std::sort(values.begin(), values.end());
  EXPECT_EQ(forward.min_cycles(), values.front());
  EXPECT_EQ(forward.max_cycles(), values.back());
  const uint64_t median = values[(values.size() - 1) / 2];
  EXPECT_LE(forward.MedianCycles(), median);
  EXPECT_GT(forward.MedianCycles() + forward.resolution_cycles(), median);
}

TEST(ClockReadsTest, ExactUpToTheNumberOfBins) {
  ClockHistogram h;
  for (uint64_t v = 0; v < ClockHistogram::kMaxBins; ++v) h.Add(v * 1000, 1);
  EXPECT_EQ(h.resolution_cycles(), 1u);
  h.Add(1, 1);
  EXPECT_EQ(h.resolution_cycles(), 2u);
}

TEST(ClockReadsTest, PairsBeyondTheLimitAreCounted) {
  ClockReads reads;
  for (uint32_t i = 0; i < ClockReads::kMaxPairs + 3; ++i) reads.AddDifference(16 * i, 16 * i + 16, 5, 32);
  reads.AddDifference(0, 16, 9, 32);
  const ClockReadSummary s = reads.Summary();
  EXPECT_EQ(s.pairs.size(), ClockReads::kMaxPairs);
  EXPECT_EQ(s.dropped_warps, 3u);
  EXPECT_EQ(s.dropped_threads, 96u);
  EXPECT_EQ(s.pairs[0].max_cycles, 9u) << "a pair that was met early keeps counting";
}

}  // namespace
}  // namespace sm89
