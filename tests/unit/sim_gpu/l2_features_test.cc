// What slices do beyond caching: half-line interleave, prefetch, compression, the load of each.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

#include "tests/unit/sim_gpu/memory_driver.h"

namespace sm89 {
namespace {

// One SM asks for line after line, 1,000 cycles apart: each finds what earlier ones brought.
Cycle ChainLatency(const GpuConfig& config, uint64_t step, bool local, L2Stats* stats) {
  constexpr uint32_t kLines = 400;
  MemoryDriver driver(config);
  for (uint32_t i = 0; i < kLines; ++i) driver.Add(i * 1'000, 0, i * step).local = local;
  const std::vector<Cycle> answers = driver.Run();
  *stats = driver.l2();
  Cycle sum = 0;
  for (uint32_t i = 0; i < kLines; ++i) sum += answers[i] - i * 1'000;
  EXPECT_EQ(driver.dram().read_sectors, stats->fetch_sectors + stats->prefetch_sectors) << "nothing twice";
  return sum / kLines;
}

TEST(L2Features, AreOffByDefault) {
  const GpuConfig config = MemoryConfig();
  EXPECT_EQ(config.l2.features, L2FeatureConfig{});
  EXPECT_EQ(config.l2.features.prefetch_distance, 0u);
  EXPECT_EQ(config.l2.features.num_compressed, 0u);
  L2Stats stats;
  ChainLatency(config, 1, false, &stats);
  EXPECT_EQ(stats.fetch_sectors, 1'600u);
  EXPECT_EQ(stats.prefetch_sectors + stats.prefetch_hits + stats.prefetch_late + stats.compressed_sectors,
            0u);
}

TEST(L2Prefetch, AStreamIsFetchedAheadAndARandomWalkIsNot) {
  GpuConfig config = MemoryConfig();
  L2Stats off;
  const Cycle without = ChainLatency(config, 1, false, &off);
  config.l2.features.prefetch_distance = 8;
  L2Stats stream;
  const Cycle with = ChainLatency(config, 1, false, &stream);
  std::printf("chain of lines: %u cycles a load, %u with distance 8; %u of %u prefetched sectors used\n",
              static_cast<unsigned>(without), static_cast<unsigned>(with),
              static_cast<unsigned>(stream.prefetch_hits), static_cast<unsigned>(stream.prefetch_sectors));
  EXPECT_LT(with, without - 100) << "most loads find their line in the L2";
  // Of the 400 lines a slice's first is fetched on demand, the others are there.
  EXPECT_EQ(stream.prefetch_hits + stream.prefetch_late + stream.fetch_sectors, 1'600u);
  EXPECT_LE(stream.fetch_sectors, 48u * 4);
  // Lines that nobody can ask for any more: at most the distance in each slice, and none evicted.
  EXPECT_LE(stream.prefetch_sectors - stream.prefetch_hits - stream.prefetch_late, 48u * 8 * 4);
  EXPECT_EQ(stream.prefetch_unused, 0u);
}

TEST(L2Prefetch, LocalMemoryIsPrefetchedLessAndLater) {
  GpuConfig config = MemoryConfig();
  config.l2.features.prefetch_distance = 8;
  L2Stats global;
  ChainLatency(config, 1, false, &global);
  L2Stats local;
  ChainLatency(config, 1, true, &local);
  EXPECT_GT(local.prefetch_sectors, 0u);
  EXPECT_LT(local.prefetch_sectors, global.prefetch_sectors);
  // Three lines of each slice come on demand before the fourth is ahead.
  EXPECT_GE(local.fetch_sectors, 48u * 3 * 4);
}

TEST(L2Prefetch, FurtherAheadIsNeverLater) {
  GpuConfig config = MemoryConfig();
  Cycle before = 1'000'000;
  for (const uint32_t distance : {1u, 2u, 4u, 16u}) {
    config.l2.features.prefetch_distance = distance;
    L2Stats stats;
    const Cycle latency = ChainLatency(config, 1, false, &stats);
    EXPECT_LE(latency, before + 2) << distance;  // a cycle or two of the queues in DRAM
    before = std::min(before, latency);
  }
}

// Everything is answered once and DRAM reads are those that are counted, whatever the order of requests.
TEST(L2Prefetch, LosesNothingUnderLoad) {
  GpuConfig config = MemoryConfig();
  config.l2.features.prefetch_distance = 16;
  config.l2.cache.sets = 8;  // small: lines are evicted
  MemoryDriver driver(config);
  std::mt19937 random(5);
  for (uint32_t i = 0; i < 20'000; ++i) {
    const auto kind = static_cast<MemRequestKind>(random() % 4);
    const uint64_t line = random() % 2 == 0 ? i : random() % 30'000;
    driver.Add(i / 16, static_cast<uint16_t>(random() % 128), line, kind);
  }
  driver.Run();
  std::vector<std::vector<MemReply>> inboxes(config.sm.num_sms);
  driver.side().RunUntil(2'000'000, &inboxes);
  const L2Stats& l2 = driver.l2();
  EXPECT_EQ(driver.dram().read_sectors, l2.fetch_sectors + l2.prefetch_sectors);
  EXPECT_GT(l2.prefetch_dropped, 0u) << "demands keep a quarter of the MSHRs";
  EXPECT_GT(l2.prefetch_hits, 0u);
  EXPECT_GT(l2.prefetch_unused, 0u);
  EXPECT_LE(l2.prefetch_hits + l2.prefetch_late + l2.prefetch_unused, l2.prefetch_sectors);
}

TEST(L2Interleave, HalfLinesGoRoundTheSlices) {
  GpuConfig config = MemoryConfig();
  config.l2.hash = static_cast<uint32_t>(SliceHash::kModulo);
  config.l2.features.interleave_bytes = 64;
  const AddressMap map(config.l2, config.dram);
  ASSERT_EQ(map.NumParts(), 2u);
  std::vector<std::vector<uint32_t>> seen(48, std::vector<uint32_t>());
  for (uint64_t line = 0; line < 4'800; ++line) {
    for (uint32_t i = 0; i < 2; ++i) {
      const LinePart part = map.Part(line, i);
      const uint64_t address = line * 128 + i * 64;
      EXPECT_EQ(map.Slice(part.line), (address >> 6) % 48);
      seen[map.Slice(part.line)].push_back(static_cast<uint32_t>(part.line * 2 + part.sector_shift / 2));
    }
  }
  for (auto& halves : seen) {
    std::sort(halves.begin(), halves.end());
    EXPECT_EQ(std::adjacent_find(halves.begin(), halves.end()), halves.end()) << "no two halves in one place";
  }
}

TEST(L2Interleave, ARequestOfTwoSlicesIsAnsweredOnceWhenBothHave) {
  GpuConfig config = MemoryConfig();
  config.noc.latency_spread_cycles = 0;
  config.noc.crossing_cycles = 0;
  L2Stats whole_stats;
  const Cycle whole = ChainLatency(config, 1, false, &whole_stats);
  config.l2.features.interleave_bytes = 64;
  MemoryDriver driver(config);
  driver.Add(0, 0, 7);
  driver.Add(10'000, 0, 7);
  driver.Add(20'000, 0, 7).sector_mask = 1;
  MemRequest& write = driver.Add(30'000, 0, 7, MemRequestKind::kWrite);
  write.partial_mask = 8;
  write.byte_mask = {~uint64_t{0}, 0xFFFF'FFFFull | 1ull << 32};
  driver.Add(40'000, 0, 7, MemRequestKind::kAtomic).lanes = 32;
  const std::vector<Cycle> answers = driver.Run();
  EXPECT_EQ(driver.l2().read_sectors, 9u);
  EXPECT_EQ(driver.l2().read_hits, 5u) << "the second read finds both halves, the third its sector";
  EXPECT_EQ(driver.l2().write_sectors, 4u);
  EXPECT_EQ(driver.l2().atomic_sectors, 4u);
  EXPECT_EQ(driver.side().kernel_stats(0).noc.request_packets, 9u)
      << "one a slice, one for the single sector";
  EXPECT_LT(answers[1] - 10'000, whole);
  uint32_t busy_slices = 0;
  for (const L2Stats& slice : driver.side().slice_stats()) busy_slices += slice.read_sectors != 0;
  EXPECT_EQ(busy_slices, 2u);
}

// Slices of one line each, all of memory compressed: a line's neighbour evicts it.
GpuConfig OneLineCompressed() {
  GpuConfig config = MemoryConfig();
  config.l2.cache.sets = 1;
  config.l2.cache.ways = 1;
  config.l2.features.num_compressed = 1;
  config.l2.features.compressed[0] = {0, ~uint64_t{0}};
  return config;
}

TEST(L2Compression, MovesLessOfWhatIsInARange) {
  GpuConfig config = MemoryConfig();
  config.l2.features.num_compressed = 1;
  config.l2.features.compressed[0] = {200 * 128, 400 * 128 - 1};  // half of the 400 lines
  config.l2.features.compression_ratio = 4;
  MemoryDriver driver(config);
  for (uint32_t i = 0; i < 400; ++i) driver.Add(i * 1'000, 0, i).sector_mask = 3;
  driver.Run();
  EXPECT_EQ(driver.l2().compressed_sectors, 400u);
  EXPECT_EQ(driver.dram().read_sectors, 200u * 2 + 200 * 1) << "whole lines, a quarter of their sectors";
  EXPECT_EQ(driver.l2().compression_saved_sectors, 200u * 1) << "of the two that were asked for";
  EXPECT_EQ(driver.l2().compression_extra_sectors, 0u);
  EXPECT_EQ(driver.l2().fetch_sectors, 400u * 2);
}

TEST(L2Compression, AHitTakesTheDecompressionLonger) {
  GpuConfig config = MemoryConfig();
  config.l2.features.num_compressed = 1;
  config.l2.features.compressed[0] = {128, 255};  // line 1
  config.l2.features.compression_ratio = 2;
  config.l2.features.decompress_cycles = 25;
  const auto hit = [](const GpuConfig& gpu) {
    MemoryDriver driver(gpu);
    driver.Add(0, 0, 1);
    driver.Add(10'000, 0, 1).sector_mask = 3;
    return driver.Run()[1] - 10'000;
  };
  const Cycle compressed = hit(config);
  config.l2.features.num_compressed = 0;
  // Two sectors come as one: 32 of 64 bytes of the ports, a cycle either way.
  EXPECT_EQ(compressed, hit(config) + 25);
}

TEST(L2Compression, ALineWrittenBackWholeIsCompressedOneInPartIsNot) {
  const GpuConfig config = OneLineCompressed();
  MemoryDriver driver(config);
  const AddressMap map(config.l2, config.dram);
  const uint64_t next = map.NextOfSlice(3);
  const uint64_t last = map.NextOfSlice(next);
  driver.Add(0, 0, 3, MemRequestKind::kWrite);
  driver.Add(10'000, 0, next, MemRequestKind::kWrite).sector_mask = 7;
  driver.Add(20'000, 0, last, MemRequestKind::kWrite);
  driver.Add(30'000, 0, next, MemRequestKind::kWrite);
  driver.Run();
  std::vector<std::vector<MemReply>> inboxes(config.sm.num_sms);
  driver.side().RunUntil(100'000, &inboxes);
  EXPECT_EQ(driver.l2().writeback_sectors, 4u + 3 + 4);
  EXPECT_EQ(driver.dram().write_sectors, 2u + 3 + 2);
}

TEST(L2Compression, ConcernsReadsOnly) {
  GpuConfig config = MemoryConfig();
  const auto answers = [&config](uint32_t ranges) {
    config.l2.features.num_compressed = ranges;
    config.l2.features.compressed[0] = {0, ~uint64_t{0}};
    MemoryDriver driver(config);
    driver.Add(0, 0, 5);
    driver.Add(10'000, 0, 5, MemRequestKind::kWrite);
    driver.Add(20'000, 0, 5, MemRequestKind::kAtomic).lanes = 32;
    return driver.Run();
  };
  const std::vector<Cycle> compressed = answers(1);
  const std::vector<Cycle> plain = answers(0);
  EXPECT_EQ(compressed[1], plain[1]) << "a write is acknowledged as ever";
  EXPECT_EQ(compressed[2], plain[2]) << "and an atomic answers with what it asks for";
}

TEST(L2Compression, OneSectorOfALineMovesMore) {
  GpuConfig config = MemoryConfig();
  config.l2.features.num_compressed = 1;
  config.l2.features.compressed[0] = {0, ~uint64_t{0}};
  MemoryDriver driver(config);
  for (uint32_t i = 0; i < 100; ++i) driver.Add(i * 1'000, 0, i).sector_mask = 1;
  driver.Run();
  EXPECT_EQ(driver.dram().read_sectors, 200u) << "the line in two sectors";
  EXPECT_EQ(driver.l2().fetch_sectors, 100u);
  EXPECT_EQ(driver.l2().compression_saved_sectors, 0u);
  EXPECT_EQ(driver.l2().compression_extra_sectors, 100u);
}

TEST(L2Compression, ALineWithBytesMissingIsWrittenBackAsItIs) {
  const GpuConfig config = OneLineCompressed();
  MemoryDriver driver(config);
  const AddressMap map(config.l2, config.dram);
  MemRequest& write = driver.Add(0, 0, 3, MemRequestKind::kWrite);
  write.partial_mask = 0xF;
  write.byte_mask = {1 | 1ull << 32, 1 | 1ull << 32};
  driver.Add(10'000, 0, map.NextOfSlice(3), MemRequestKind::kWrite);
  driver.Run();
  std::vector<std::vector<MemReply>> inboxes(config.sm.num_sms);
  driver.side().RunUntil(100'000, &inboxes);
  EXPECT_EQ(driver.dram().write_sectors, 4u);
}

TEST(L2Prefetch, SectorsOfALineOneByOneAreOneStream) {
  GpuConfig config = MemoryConfig();
  config.l2.features.prefetch_distance = 4;
  MemoryDriver driver(config);
  for (uint32_t i = 0; i < 1'600; ++i) {
    driver.Add(i * 500, 0, i / 4).sector_mask = static_cast<uint8_t>(1u << i % 4);
  }
  driver.Run();
  const L2Stats& l2 = driver.l2();
  EXPECT_LE(l2.fetch_sectors, 48u * 4) << "each slice's first line";
  EXPECT_LE(l2.prefetch_sectors, (400u + 48 * 4) * 4) << "nothing beyond the distance";
}

TEST(L2Prefetch, AnEarlierOrRepeatedLineAsksForNothingNew) {
  GpuConfig config = MemoryConfig();
  config.l2.features.prefetch_distance = 4;
  const AddressMap map(config.l2, config.dram);
  L2Prefetcher prefetcher(config.l2, map);
  const uint64_t first = 100;
  const uint64_t second = map.NextOfSlice(first);
  EXPECT_EQ(prefetcher.OnDemand(first, false).size(), 4u);
  prefetcher.Taken(4);
  EXPECT_EQ(prefetcher.OnDemand(first, false).size(), 0u);
  EXPECT_EQ(prefetcher.OnDemand(second, false).size(), 1u);
  prefetcher.Taken(0);
  EXPECT_EQ(prefetcher.OnDemand(first, false).size(), 1u) << "what could not be taken is wanted again";
}

TEST(L2Prefetch, OverwrittenSectorsAreNoHits) {
  GpuConfig config = MemoryConfig();
  config.l2.features.prefetch_distance = 1;
  MemoryDriver driver(config);
  const AddressMap map(config.l2, config.dram);
  driver.Add(0, 0, 3);
  driver.Add(10'000, 0, map.NextOfSlice(3), MemRequestKind::kWrite);
  driver.Add(20'000, 0, map.NextOfSlice(3));
  driver.Run();
  EXPECT_EQ(driver.l2().prefetch_sectors, 4u);
  EXPECT_EQ(driver.l2().prefetch_hits, 0u);
  EXPECT_EQ(driver.l2().prefetch_unused, 4u);
}

TEST(SliceLoads, AreCountedByKernel) {
  const GpuConfig config = MemoryConfig();
  MemoryDriver driver(config);
  const AddressMap map(config.l2, config.dram);
  for (uint32_t i = 0; i < 960; ++i) driver.Add(i * 4, 0, i);
  uint64_t one = 0;
  while (map.Slice(one) != 7) ++one;
  for (uint32_t i = 0; i < 100; ++i) driver.Add(50'000 + i * 8, 1, one);
  driver.Run();
  const SliceLoad load = driver.side().slice_load(0);
  EXPECT_EQ(load.slices, 48u);
  EXPECT_EQ(load.sectors, 1'060u * 4);
  EXPECT_EQ(load.min_sectors, 20u * 4) << "960 lines are even over 48 slices";
  EXPECT_EQ(load.max_sectors, 120u * 4);
  EXPECT_DOUBLE_EQ(load.MaxOverMean(), 480.0 * 48 / 4240);
  driver.side().FinishKernel(0);
  EXPECT_EQ(driver.side().slice_load(0).max_sectors, load.max_sectors) << "kept when the kernel has ended";
}

}  // namespace
}  // namespace sm89
