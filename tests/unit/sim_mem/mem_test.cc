#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/config/config.h"
#include "sim/mem/address_map.h"
#include "sim/mem/atomic_unit.h"
#include "sim/mem/l2_compression.h"
#include "sim/mem/l2_slice.h"
#include "sim/mem/ring.h"
#include "sim/mem/slice_parts.h"

namespace sm89 {
namespace {

// Largest load of a slice over the mean, for `kLines` different lines.
double Unevenness(const AddressMap& map, uint32_t slices, uint64_t base, uint64_t stride) {
  constexpr uint32_t kLines = 100'000;
  std::vector<uint32_t> load(slices, 0);
  uint64_t previous = ~uint64_t{0};
  uint32_t lines = 0;
  for (uint64_t i = 0; lines < kLines; ++i) {
    const uint64_t line = (base + i * stride) / kLineBytes;
    if (line == previous) continue;
    previous = line;
    ++load[map.Slice(line)];
    ++lines;
  }
  return *std::max_element(load.begin(), load.end()) * static_cast<double>(slices) / kLines;
}

constexpr uint64_t kBases[] = {0, 0x302000200, 0x7f4c80000000, 0x7f0012345680};

TEST(AddressMapTest, PowersOfTwoLoadAllSlicesEvenly) {
  const GpuConfig config;
  const AddressMap map(config.l2, config.dram);
  for (uint64_t stride = 32; stride <= (1u << 20); stride *= 2) {
    for (const uint64_t base : kBases) {
      EXPECT_LT(Unevenness(map, config.l2.slices, base, stride), 1.05)
          << "stride " << stride << " base " << base;
    }
  }
}

TEST(AddressMapTest, OtherStridesLoadAllSlicesEvenly) {
  const GpuConfig config;
  const AddressMap map(config.l2, config.dram);
  // Sectors, lines, multiples of the slices and channels, rows of matrices, primes.
  const uint64_t strides[] = {
      96,        160,       224,       480,        3 * 128,   5 * 128,        7 * 128,
      24 * 128,  48 * 128,  1000 * 4,  1500 * 4,   3000 * 4,  12'288,         30'000,
      96 * 1024, 100'000,   196'608,   333 * 1024, 655'360,   1000 * 1024,    999'983,
      7919 * 32, 1021 * 32, 4093 * 64, 48 * 2048,  1'000'000, (1 << 20) - 32, 48 * 16'384};
  for (const uint64_t stride : strides) {
    for (const uint64_t base : kBases) {
      EXPECT_LT(Unevenness(map, config.l2.slices, base, stride), 1.05)
          << "stride " << stride << " base " << base;
    }
  }
}

// Every preset's geometry: slice counts that are no powers of two, few slices, one and two slices a channel.
class PresetMapTest : public ::testing::TestWithParam<std::string> {};

TEST_P(PresetMapTest, LoadsAllSlicesEvenly) {
  const auto config = LoadConfig(GetParam(), {}, {});
  ASSERT_TRUE(config.ok()) << config.status();
  GpuConfig gpu = config->gpu;
  const uint32_t slices = gpu.l2.slices;
  // The article's modulo is uneven where a stride shares a factor with its slices; consecutive lines it deals
  // out.
  if (gpu.l2.hash != 0) {
    EXPECT_EQ(gpu.name, "RTX4090_ARTICLE");
    EXPECT_LT(Unevenness(AddressMap(gpu.l2, gpu.dram), slices, 0, kLineBytes), 1.01);
    gpu.l2.hash = 0;
  }
  const AddressMap map(gpu.l2, gpu.dram);
  for (uint64_t stride = 32; stride <= (1u << 20); stride *= 2) {
    for (const uint64_t base : kBases) {
      EXPECT_LT(Unevenness(map, slices, base, stride), 1.05) << "stride " << stride << " base " << base;
    }
  }
  std::vector<uint32_t> of_channel(gpu.dram.channels, 0);
  for (uint32_t slice = 0; slice < slices; ++slice) ++of_channel.at(map.Channel(slice));
  for (const uint32_t count : of_channel) EXPECT_EQ(count, slices / gpu.dram.channels);
}

// Nine tenths of the L2's capacity, contiguous, fit: the sets fill alike.
TEST_P(PresetMapTest, AContiguousBufferFillsAllSetsAlike) {
  const auto config = LoadConfig(GetParam(), {}, {});
  ASSERT_TRUE(config.ok()) << config.status();
  const L2Config& l2 = config->gpu.l2;
  const AddressMap map(l2, config->gpu.dram);
  const uint64_t capacity = uint64_t{l2.slices} * l2.cache.sets * l2.cache.ways;
  std::vector<uint32_t> lines(size_t{l2.slices} * l2.cache.sets, 0);
  for (uint64_t line = 0; line < capacity / 10 * 9; ++line) {
    ASSERT_LT(map.Slice(line), l2.slices);
    ASSERT_LT(map.Set(line), l2.cache.sets);
    ++lines[size_t{map.Slice(line)} * l2.cache.sets + map.Set(line)];
  }
  EXPECT_LE(*std::max_element(lines.begin(), lines.end()), l2.cache.ways);
  EXPECT_GT(*std::min_element(lines.begin(), lines.end()), 0u);
}

std::vector<std::string> PresetNames() {
  std::vector<std::string> names;
  for (const PresetInfo& preset : Presets()) names.push_back(preset.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(All, PresetMapTest, ::testing::ValuesIn(PresetNames()),
                         [](const auto& preset) { return preset.param; });

// A pointer chase over 66 of an RTX 4090's 72 MiB misses nothing (public log).
TEST(AddressMapTest, AContiguousBufferFillsAllSetsAlike) {
  const GpuConfig config;
  const AddressMap map(config.l2, config.dram);
  for (const uint64_t base : kBases) {
    std::vector<uint32_t> lines(size_t{config.l2.slices} * config.l2.cache.sets, 0);
    for (uint64_t i = 0; i < (uint64_t{66} << 20) / kLineBytes; ++i) {
      const uint64_t line = base / kLineBytes + i;
      ++lines[size_t{map.Slice(line)} * config.l2.cache.sets + map.Set(line)];
    }
    EXPECT_LE(*std::max_element(lines.begin(), lines.end()), config.l2.cache.ways) << "base " << base;
  }
}

// As latencies line by line show on an H200.
TEST(AddressMapTest, AKilobyteLiesInTwoChannels) {
  const GpuConfig config;
  const AddressMap map(config.l2, config.dram);
  for (const uint64_t base : {uint64_t{0}, uint64_t{0x7f0012345400}}) {
    const uint64_t line = base / kLineBytes;
    const auto channel = [&](uint64_t i) { return map.Channel(map.Slice(line + i)); };
    for (const uint64_t i : {1, 4, 5}) EXPECT_EQ(channel(i), channel(0)) << i;
    for (const uint64_t i : {3, 6, 7}) EXPECT_EQ(channel(i), channel(2)) << i;
    EXPECT_NE(channel(0), channel(2));
    EXPECT_NE(map.Slice(line), map.Slice(line + 1));
    EXPECT_EQ(map.Slice(line), map.Slice(line + 4));
  }
}

// The hash that GPGPU-Sim's configurations name loads 48 slices unevenly; ours must not share that property.
TEST(AddressMapTest, ModuloIsUnevenWhereTheStrideSharesAFactor) {
  GpuConfig config;
  config.l2.hash = static_cast<uint32_t>(SliceHash::kModulo);
  const AddressMap map(config.l2, config.dram);
  EXPECT_GT(Unevenness(map, config.l2.slices, 0, 1 << 20), 2.0);
}

TEST(AddressMapTest, AContiguousBlockOpensARowOfTwoBankGroups) {
  const GpuConfig config;
  const AddressMap map(config.l2, config.dram);
  const uint64_t lines = uint64_t{config.dram.row_bytes} / kLineBytes * config.dram.channels * 2;
  std::vector<uint32_t> of_bank(config.dram.banks, 0);
  for (uint64_t line = 0; line < lines; ++line) {
    EXPECT_EQ(map.Row(lines * 5 + line), 5u);
    ++of_bank[map.Bank(lines * 5 + line)];
  }
  EXPECT_EQ(std::count_if(of_bank.begin(), of_bank.end(), [](uint32_t n) { return n != 0; }), 2);
  EXPECT_NEAR(*std::max_element(of_bank.begin(), of_bank.end()), lines / 2.0, lines * 0.02);
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
    ASSERT_LT(map.Bank(line), config.dram.banks);
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
    const L2Outcome outcome = slice_.Access(request, {&stats_, &of_slice_});
    if (!outcome.blocked) way_ = outcome.way;
    return outcome;
  }

  GpuConfig config_ = Small();
  AddressMap map_{config_.l2, config_.dram};
  L2Slice slice_{config_.l2, map_};
  L2Stats stats_, of_slice_;
  uint32_t way_ = 0;  // of the last access that was not blocked
};

TEST_F(L2SliceTest, MissFetchesMergesAndHitsAfterTheFill) {
  EXPECT_EQ(Do(MemRequestKind::kRead, 7, 0x3).fetch_mask, 0x3);
  const L2Outcome merged = Do(MemRequestKind::kRead, 7, 0x6);
  EXPECT_EQ(merged.fetch_mask, 0x4);
  EXPECT_EQ(merged.wait_mask, 0x6);
  slice_.Fill(7, way_, 0x3);
  slice_.Fill(7, way_, 0x4);
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

// Writes of bytes [first, first + count) of a line.
MemRequest PartialWrite(uint64_t line, uint32_t first, uint32_t count) {
  MemRequest request;
  request.kind = MemRequestKind::kWrite;
  request.line = line;
  for (uint32_t byte = first; byte < first + count; ++byte) {
    request.byte_mask[byte / 64] |= uint64_t{1} << (byte % 64);
    request.sector_mask |= static_cast<uint8_t>(1u << (byte / kSectorBytes));
  }
  request.partial_mask = request.sector_mask;
  return request;
}

TEST_F(L2SliceTest, PartialWritesThatCoverASectorMakeItWhole) {
  const StatPair<L2Stats> stats{&stats_, &of_slice_};
  slice_.Access(PartialWrite(7, 96, 20), stats);
  slice_.Access(PartialWrite(7, 116, 11), stats);
  const MemRequest last = PartialWrite(7, 127, 1);
  EXPECT_EQ(last.sector_mask, 0x8);
  slice_.Access(last, stats);
  EXPECT_EQ(Do(MemRequestKind::kRead, 7, 0x8).fetch_mask, 0) << "all 32 bytes are known";
  EXPECT_EQ(stats_.write_hits, 2u) << "the sector was there in part";
}

TEST_F(L2SliceTest, OneByteMissingMeansAFetch) {
  const StatPair<L2Stats> stats{&stats_, &of_slice_};
  slice_.Access(PartialWrite(7, 32, 31), stats);
  EXPECT_EQ(Do(MemRequestKind::kRead, 7, 0x2).fetch_mask, 0x2);
}

TEST_F(L2SliceTest, BytesOfALineThatWentAreForgotten) {
  const StatPair<L2Stats> stats{&stats_, &of_slice_};
  slice_.Access(PartialWrite(1, 0, 31), stats);
  Do(MemRequestKind::kWrite, 2, 0x1);
  Do(MemRequestKind::kWrite, 3, 0x1);  // in the place of line 1
  EXPECT_EQ(slice_.Access(PartialWrite(1, 31, 1), stats).evicted_line, 2u);
  EXPECT_EQ(Do(MemRequestKind::kRead, 1, 0x1).fetch_mask, 0x1);
}

TEST_F(L2SliceTest, UnknownBytesNeverMakeASectorWhole) {
  for (int i = 0; i < 3; ++i) Do(MemRequestKind::kWrite, 7, 0x1, 0x1);
  EXPECT_EQ(Do(MemRequestKind::kRead, 7, 0x1).fetch_mask, 0x1);
}

TEST_F(L2SliceTest, PartialSectorsAreWrittenBackWithoutAFetch) {
  const StatPair<L2Stats> stats{&stats_, &of_slice_};
  slice_.Access(PartialWrite(1, 40, 4), stats);
  Do(MemRequestKind::kWrite, 2, 0x1);
  const L2Outcome outcome = Do(MemRequestKind::kWrite, 3, 0x1);
  EXPECT_EQ(outcome.evicted_line, 1u);
  EXPECT_EQ(outcome.writeback_mask, 0x2);
  EXPECT_EQ(outcome.fetch_mask, 0);
  EXPECT_EQ(stats_.writeback_sectors, 1u);
  EXPECT_EQ(of_slice_.writeback_sectors, 1u);
}

TEST_F(L2SliceTest, EvictionWritesDirtySectorsBack) {
  Do(MemRequestKind::kWrite, 1, 0xF);
  Do(MemRequestKind::kWrite, 2, 0x1);
  const L2Outcome outcome = Do(MemRequestKind::kWrite, 3, 0x1);
  EXPECT_EQ(outcome.evicted_line, 1u);
  EXPECT_EQ(outcome.writeback_mask, 0xF);
}

TEST_F(L2SliceTest, BlocksWhenNoMshrOrWayIsFree) {
  const uint32_t way = Do(MemRequestKind::kRead, 1, 0x1).way;
  Do(MemRequestKind::kRead, 2, 0x1);
  EXPECT_TRUE(Do(MemRequestKind::kRead, 3, 0x1).blocked) << "MSHRs";
  EXPECT_TRUE(Do(MemRequestKind::kWrite, 3, 0x1).blocked) << "both ways are being filled";
  slice_.Fill(1, way, 0x1);
  EXPECT_FALSE(Do(MemRequestKind::kRead, 3, 0x1).blocked);
}

TEST(RingTest, KeepsItsOrderWhenItGrowsWithItsFrontInTheMiddle) {
  Ring<int> ring(4);
  for (int i = 0; i < 3; ++i) ring.push_back(i);
  ring.pop_front();
  ring.pop_front();
  for (int i = 3; i < 20; ++i) ring.push_back(i);
  ASSERT_EQ(ring.size(), 18u);
  for (uint32_t i = 0; i < ring.size(); ++i) EXPECT_EQ(ring[i], static_cast<int>(i) + 2);
  for (int i = 2; i < 20; ++i, ring.pop_front()) ASSERT_EQ(ring.front(), i);
  EXPECT_TRUE(ring.empty());
}

L2Config AtomicConfig(uint32_t interval_x100) {
  L2Config config;
  config.atomic_interval_x100 = interval_x100;
  config.atomic_lanes_per_cycle = 8;
  config.atomic_latency_cycles = 20;
  return config;
}

TEST(AtomicUnitTest, OneOperationCostsTheLatency) {
  AtomicUnit unit(AtomicConfig(130));
  EXPECT_EQ(unit.Reserve(1000, 7, 1, 1), 1020u);
}

TEST(AtomicUnitTest, LanesOnOneAddressFollowEachOther) {
  AtomicUnit unit(AtomicConfig(100));
  EXPECT_EQ(unit.Reserve(1000, 7, 32, 32), 1000u + 31 + 20);
  EXPECT_EQ(unit.Reserve(1000, 7, 1, 1), 1000u + 32 + 20) << "behind them";
}

TEST(AtomicUnitTest, LanesOnDifferentAddressesShareTheUnit) {
  AtomicUnit unit(AtomicConfig(100));
  EXPECT_EQ(unit.Reserve(1000, 7, 32, 1), 1000u + 3 + 20);
  EXPECT_EQ(unit.Reserve(1000, 8, 32, 1), 1000u + 4 + 3 + 20);
}

TEST(AtomicUnitTest, OneAddressTakesAnOperationEachInterval) {
  AtomicUnit unit(AtomicConfig(130));
  Cycle last = 0;
  for (int i = 0; i < 1001; ++i) last = unit.Reserve(0, 7, 1, 1);
  EXPECT_EQ(last, 1300u + 20);
  EXPECT_EQ(unit.Reserve(5000, 7, 1, 1), 5020u) << "idle again";
}

TEST(SlicePartsTest, EverySectorAndByteGoesToOneSlice) {
  GpuConfig config;
  config.l2.features.interleave_bytes = 64;
  const AddressMap map(config.l2, config.dram);
  for (uint64_t line = 1000; line < 1100; ++line) {
    for (uint32_t mask = 1; mask < 16; ++mask) {
      MemRequest request;
      request.line = line;
      request.kind = MemRequestKind::kWrite;
      request.sector_mask = static_cast<uint8_t>(mask);
      request.partial_mask = static_cast<uint8_t>(mask & 0b0110);
      request.byte_mask = {0x00ff'1234'0000'ffffull, 0xabcd'0000'0000'0001ull};
      const SliceParts split = SplitBySlice(request, map);
      ASSERT_EQ(split.count, (mask & 3) != 0 && (mask & 12) != 0 ? 2u : 1u);
      uint32_t sectors = 0;
      uint32_t partial = 0;
      for (uint32_t i = 0; i < split.count; ++i) {
        const MemRequest& part = split.parts[i];
        sectors += CountSectors(part.sector_mask);
        partial += CountSectors(part.partial_mask);
        EXPECT_EQ(part.partial_mask & ~part.sector_mask, 0);
        // Its bytes are those of the half that it has.
        const bool upper = (mask & 3) == 0 || i == 1;
        EXPECT_EQ(part.byte_mask[0] | part.byte_mask[1], request.byte_mask[upper ? 1 : 0]);
        EXPECT_EQ(part.byte_mask[(part.sector_mask & 3) != 0 ? 1 : 0], 0u);
      }
      EXPECT_EQ(sectors, CountSectors(mask));
      EXPECT_EQ(partial, CountSectors(mask & 0b0110));
      EXPECT_TRUE(split.count == 1 || map.Slice(split.parts[0].line) != map.Slice(split.parts[1].line));
    }
  }
}

TEST(SlicePartsTest, LanesOfAnAtomicAreDivided) {
  GpuConfig config;
  config.l2.features.interleave_bytes = 64;
  MemRequest request;
  request.line = 5;
  request.kind = MemRequestKind::kAtomic;
  request.sector_mask = 0b1111;
  request.lanes = 31;
  request.same_address_lanes = 20;
  request.atomic_flits = 5;
  const SliceParts split = SplitBySlice(request, AddressMap(config.l2, config.dram));
  ASSERT_EQ(split.count, 2u);
  for (const MemRequest& part : split.parts) {
    EXPECT_EQ(part.lanes, 16);
    EXPECT_EQ(part.same_address_lanes, 16);
    EXPECT_EQ(part.atomic_flits, 3);
  }
}

TEST(L2CompressionTest, WholeLinesOfTheRangesMoveLess) {
  L2FeatureConfig features;
  features.num_compressed = 1;
  features.compressed[0] = {.first = 256, .last = 1023 + 64};
  features.compression_ratio = 4;
  const L2Compression compression(features);
  for (uint64_t line = 0; line < 12; ++line)
    EXPECT_EQ(compression.Covers(line), line >= 2 && line <= 7) << line;
  EXPECT_EQ(compression.Moved(4, true), 1u);
  EXPECT_EQ(compression.Moved(1, true), 1u);
  EXPECT_EQ(compression.Moved(4, false), 4u);
  EXPECT_FALSE(L2Compression(L2FeatureConfig()).Covers(0));
}

}  // namespace
}  // namespace sm89
