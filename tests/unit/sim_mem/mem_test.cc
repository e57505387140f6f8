#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "sim/mem/address_map.h"
#include "sim/mem/dram_channel.h"
#include "sim/mem/l2_slice.h"

namespace sm89 {
namespace {

TEST(AddressMapTest, EveryStrideLoadsAllSlicesEvenly) {
  GpuConfig config;
  const AddressMap map(config.l2, config.dram);
  constexpr uint32_t kLines = 100'000;
  for (uint64_t stride = 32; stride <= (1u << 20); stride *= 2) {
    std::vector<uint32_t> load(config.l2.slices, 0);
    for (uint64_t i = 0; i < kLines; ++i) ++load[map.Slice((0x7f4c80000000 + i * stride) / 128)];
    const double mean = static_cast<double>(kLines) / config.l2.slices;
    EXPECT_LT(*std::max_element(load.begin(), load.end()) / mean, 1.05) << "stride " << stride;
    EXPECT_GT(*std::min_element(load.begin(), load.end()) / mean, 0.95) << "stride " << stride;
  }
}

TEST(AddressMapTest, SetsAndChannelsStayInRange) {
  GpuConfig config;
  const AddressMap map(config.l2, config.dram);
  std::vector<uint32_t> sets(config.l2.cache.sets, 0);
  for (uint64_t line = 0; line < 200'000; ++line) {
    const uint32_t set = map.Set(line * 7919);
    ASSERT_LT(set, config.l2.cache.sets);
    ++sets[set];
    ASSERT_LT(map.Channel(map.Slice(line)), config.dram.channels);
    ASSERT_LT(map.Bank(map.Row(line)), config.dram.banks);
  }
  EXPECT_GT(*std::min_element(sets.begin(), sets.end()), 0u);
}

class L2SliceTest : public ::testing::Test {
 protected:
  static GpuConfig Small() {
    GpuConfig config;
    config.l2.slices = 1;
    config.dram.channels = 1;
    config.l2.cache.sets = 1;
    config.l2.cache.ways = 2;
    config.l2.cache.mshr_entries = 2;
    return config;
  }
  L2Outcome Do(MemRequestKind kind, uint64_t line, uint8_t mask, uint8_t partial = 0) {
    MemRequest request;
    request.kind = kind;
    request.line = line;
    request.sector_mask = mask;
    request.partial_mask = partial;
    return slice_.Access(request, &stats_);
  }

  GpuConfig config_ = Small();
  AddressMap map_{config_.l2, config_.dram};
  L2Slice slice_{config_.l2, map_};
  L2Stats stats_;
};

TEST_F(L2SliceTest, MissFetchesMergesAndHitsAfterTheFill) {
  EXPECT_EQ(Do(MemRequestKind::kRead, 7, 0x3).fetch_mask, 0x3);
  const L2Outcome merged = Do(MemRequestKind::kRead, 7, 0x6);
  EXPECT_EQ(merged.fetch_mask, 0x4);
  EXPECT_EQ(merged.wait_mask, 0x6);
  slice_.Fill(7, 0x3);
  slice_.Fill(7, 0x4);
  EXPECT_EQ(Do(MemRequestKind::kRead, 7, 0x7).wait_mask, 0);
  EXPECT_EQ(stats_.read_sectors, 7u);
  EXPECT_EQ(stats_.read_hits, 3u);
  EXPECT_EQ(stats_.mshr_hits, 1u);
}

TEST_F(L2SliceTest, WholeWritesNeedNoFetchPartialOnesDoWhenRead) {
  EXPECT_EQ(Do(MemRequestKind::kWrite, 7, 0x3, 0x2).fetch_mask, 0);
  EXPECT_EQ(Do(MemRequestKind::kRead, 7, 0x1).wait_mask, 0);
  EXPECT_EQ(Do(MemRequestKind::kRead, 7, 0x2).fetch_mask, 0x2) << "half-written sector";
}

TEST_F(L2SliceTest, EvictionWritesDirtySectorsBack) {
  Do(MemRequestKind::kWrite, 1, 0xF);
  Do(MemRequestKind::kWrite, 2, 0x1);
  const L2Outcome outcome = Do(MemRequestKind::kWrite, 3, 0x1);
  EXPECT_EQ(outcome.evicted_line, 1u);
  EXPECT_EQ(outcome.writeback_mask, 0xF);
}

TEST_F(L2SliceTest, BlocksWhenNoMshrOrWayIsFree) {
  Do(MemRequestKind::kRead, 1, 0x1);
  Do(MemRequestKind::kRead, 2, 0x1);
  EXPECT_TRUE(Do(MemRequestKind::kRead, 3, 0x1).blocked) << "MSHRs";
  EXPECT_TRUE(Do(MemRequestKind::kWrite, 3, 0x1).blocked) << "both ways are being filled";
  slice_.Fill(1, 0x1);
  EXPECT_FALSE(Do(MemRequestKind::kRead, 3, 0x1).blocked);
}

// Runs a channel until `jobs` are done; returns the finish cycle of each in order of scheduling.
std::vector<Cycle> RunChannel(DramChannel* channel, Cycle from, DramStats* stats) {
  std::vector<Cycle> done;
  for (Cycle now = from; !channel->idle(); now = channel->NextWake(now)) {
    DramJob job;
    Cycle end = 0;
    if (channel->Schedule(now, &job, &end, stats)) done.push_back(end);
  }
  return done;
}

DramJob Job(uint64_t row, uint32_t bank, bool write = false) {
  DramJob job;
  job.row = row;
  job.bank = bank;
  job.sectors = 4;
  job.sector_mask = 0xF;
  job.write = write;
  return job;
}

TEST(DramChannelTest, FirstAccessCostsActivateColumnBurstAndTheFixedPart) {
  GpuConfig config;
  DramChannel channel(config.dram, config.clocks);
  DramStats stats;
  channel.Enqueue(Job(1, 0));
  const std::vector<Cycle> done = RunChannel(&channel, 10, &stats);
  const double dram_clocks = config.dram.rcd + config.dram.cl + 4 * config.dram.ccd;
  const double core_per_dram = static_cast<double>(config.clocks.core_khz) / config.clocks.dram_khz;
  const double fixed = config.dram.base_latency_ns_x10 * 1e-10 * config.clocks.core_khz * 1e3;
  ASSERT_EQ(done.size(), 1u);
  EXPECT_NEAR(static_cast<double>(done[0]), 10 + dram_clocks * core_per_dram + fixed, 2.0);
}

TEST(DramChannelTest, StreamOfRowHitsReachesTheBusRate) {
  GpuConfig config;
  config.dram.refresh_interval_ns = 0;
  DramChannel channel(config.dram, config.clocks);
  DramStats stats;
  constexpr int kJobs = 400;
  for (int i = 0; i < kJobs; ++i) channel.Enqueue(Job(1, 0));
  const std::vector<Cycle> done = RunChannel(&channel, 1, &stats);
  const double cycles = static_cast<double>(done.back() - done.front());
  const double bytes_per_cycle = (kJobs - 1) * 128 / cycles;
  // 21 Gb/s x 16 bit = 42 GB/s at 2.52 GHz = 16.67 bytes a core cycle.
  EXPECT_NEAR(bytes_per_cycle, 42.0 / 2.52, 0.2);
  EXPECT_EQ(stats.row_hits, static_cast<uint64_t>(kJobs - 1));
}

TEST(DramChannelTest, RowHitsOvertakeWithinTheWindow) {
  GpuConfig config;
  DramChannel channel(config.dram, config.clocks);
  DramStats stats;
  channel.Enqueue(Job(1, 0));
  channel.Enqueue(Job(2, 0));
  channel.Enqueue(Job(1, 0));
  std::vector<uint64_t> rows;
  for (Cycle now = 1; !channel.idle(); now = channel.NextWake(now)) {
    DramJob job;
    Cycle end = 0;
    if (channel.Schedule(now, &job, &end, &stats)) rows.push_back(job.row);
  }
  EXPECT_EQ(rows, (std::vector<uint64_t>{1, 1, 2}));
}

TEST(DramChannelTest, RefreshIsCountedAndClosesRows) {
  GpuConfig config;
  DramChannel channel(config.dram, config.clocks);
  DramStats stats;
  channel.Enqueue(Job(1, 0));
  RunChannel(&channel, 1, &stats);
  channel.Enqueue(Job(1, 0));
  RunChannel(&channel, 100'000, &stats);
  EXPECT_GT(stats.refreshes, 0u);
  EXPECT_EQ(stats.row_misses, 2u);
}

}  // namespace
}  // namespace sm89
