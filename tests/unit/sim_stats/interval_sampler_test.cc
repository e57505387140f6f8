#include "sim/stats/interval_sampler.h"

#include <gtest/gtest.h>

#include <numeric>

namespace sm89 {
namespace {

SimStats Counted(uint64_t n) {
  SimStats stats;
  stats.sm.warp_instructions = n;
  stats.sm.issue_slots = 4 * n;
  stats.sm.tensor_busy_cycles = 2 * n;
  stats.l2.read_sectors = 5 * n;
  stats.l2.write_sectors = n;
  stats.l2.read_hits = 3 * n;
  stats.l2.write_hits = n;
  stats.dram.read_sectors = 7 * n;
  stats.dram.write_sectors = 8 * n;
  return stats;
}

TEST(IntervalSampler, GivesDifferences) {
  IntervalSampler sampler(100, 2);
  EXPECT_FALSE(sampler.Due(99));
  EXPECT_TRUE(sampler.Due(100));
  sampler.Add(128, Counted(10), std::vector<uint64_t>{4, 6});
  EXPECT_FALSE(sampler.Due(227));
  EXPECT_TRUE(sampler.Due(228));
  sampler.Add(300, Counted(15), std::vector<uint64_t>{4, 11});
  const IntervalSamples kept = sampler.Until(310, Counted(16), std::vector<uint64_t>{5, 11});
  ASSERT_EQ(kept.samples.size(), 3u);
  EXPECT_EQ(kept.samples[0], (IntervalSample{128, 10, 40, 20, 60, 40, 70, 80}));
  EXPECT_EQ(kept.samples[1], (IntervalSample{300, 5, 20, 10, 30, 20, 35, 40}));
  EXPECT_EQ(kept.samples[2], (IntervalSample{310, 1, 4, 2, 6, 4, 7, 8}));
  EXPECT_EQ(kept.sm_issued, (std::vector<uint64_t>{4, 6, 0, 5, 1, 0}));
  EXPECT_EQ(sampler.Until(300, Counted(15), std::vector<uint64_t>{4, 11}).samples.size(), 2u);
}

// However long the run: bounded, nothing lost, borders among those asked for.
TEST(IntervalSampler, JoinsNeighboursWhenThereAreTooMany) {
  IntervalSampler sampler(10, 0);
  uint64_t now = 0;
  for (int i = 0; i < 100'000; ++i) {
    now += 10;
    if (sampler.Due(now)) sampler.Add(now, Counted(now), {});
  }
  const IntervalSamples kept = sampler.Until(now, Counted(now), {});
  EXPECT_LE(kept.samples.size(), IntervalSampler::kMaxSamples);
  EXPECT_GT(kept.samples.size(), IntervalSampler::kMaxSamples / 2);
  EXPECT_EQ(sampler.interval_cycles(), 160u);
  uint64_t sum = 0, last = 0;
  for (const IntervalSample& sample : kept.samples) {
    EXPECT_EQ(sample.warp_instructions, sample.end_cycle - last);
    sum += sample.dram_write_sectors;
    last = sample.end_cycle;
  }
  EXPECT_EQ(last, now);
  EXPECT_EQ(sum, 8 * now);
}

TEST(IntervalSampler, JoinsTheTracksOfSmsToo) {
  IntervalSampler sampler(1, 3);
  for (uint64_t now = 1; now <= 5000; ++now) {
    if (sampler.Due(now)) sampler.Add(now, Counted(now), std::vector<uint64_t>{now, 2 * now, 0});
  }
  const IntervalSamples kept = sampler.Until(5000, Counted(5000), std::vector<uint64_t>{5000, 10'000, 0});
  EXPECT_LE(kept.samples.size(), IntervalSampler::kMaxSmSamples);
  ASSERT_EQ(kept.sm_issued.size(), 3 * kept.samples.size());
  uint64_t last = 0;
  for (size_t i = 0; i < kept.samples.size(); ++i) {
    EXPECT_EQ(kept.sm_issued[3 * i], kept.samples[i].end_cycle - last);
    EXPECT_EQ(kept.sm_issued[3 * i + 1], 2 * (kept.samples[i].end_cycle - last));
    EXPECT_EQ(kept.sm_issued[3 * i + 2], 0u);
    last = kept.samples[i].end_cycle;
  }
  EXPECT_EQ(last, 5000u);
}

}  // namespace
}  // namespace sm89
