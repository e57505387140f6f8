// The same question gives the same bytes: over runs, threads, and slices of Advance.
#include <gtest/gtest.h>

#include "sim/timeline/timeline.h"
#include "tests/support/trace_builder.h"

namespace sm89 {
namespace {

using testing::KernelScript;
using testing::TestConfig;
using testing::WarpScript;
using testing::WriteTrace;

// Divergent, memory-heavy, with barriers and atomics, over more CTAs than one wave.
std::string MixedTrace() {
  std::vector<KernelScript> kernels(3);
  for (uint32_t k = 0; k < kernels.size(); ++k) {
    kernels[k].info.id = k + 1;
    kernels[k].info.stream_id = k % 2;
    kernels[k].info.grid = {400, 1, 1};
    kernels[k].info.block = {128, 1, 1};
    kernels[k].info.shmem_bytes = 8192;
    kernels[k].warp = [k](uint32_t c, uint32_t w) {
      WarpScript s;
      uint64_t x = 0x9E3779B97F4A7C15ull * (k * 100'003 + c * 4 + w + 1);
      for (int i = 0; i < 6; ++i) {
        x ^= x >> 29;
        x *= 0xBF58476D1CE4E5B9ull;
        const uint64_t base = 0x7f4c80000000 + (x >> 40) * 32;
        const LaneMask mask = i % 3 == 2 ? static_cast<LaneMask>(x) | 1u : ~0u;
        s.At(static_cast<uint32_t>(i) * 0x100);
        s.Mem("LDG.E", {4}, {2}, base, i % 2 == 0 ? 4 : 132, mask).Op("FFMA", {5}, {4, 5}, mask);
        s.Mem("STS", {}, {3, 5}, w * 128, 4, mask).Op("BAR.SYNC").Mem("LDS", {6}, {3}, 0, 8);
        s.Mem("RED.E.ADD", {}, {2, 6}, 0x7f4c90000000 + c % 7 * 4, 0, 1)
            .Mem("STG.E", {}, {2, 6}, base, 4, mask);
      }
      return s.At(0x2000).Op("EXIT");
    };
  }
  return WriteTrace(kernels);
}

RunReport Report(const std::string& path, uint32_t threads, uint64_t slice, Config config = TestConfig()) {
  SimulatorOptions options;
  options.config = std::move(config);
  options.trace_path = path;
  options.threads = threads;
  auto simulator = Simulator::Create(std::move(options));
  EXPECT_TRUE(simulator.ok()) << simulator.status().message();
  for (int i = 0; i < 10'000'000; ++i) {
    const auto progress = (*simulator)->Advance(slice);
    EXPECT_TRUE(progress.ok());
    if (!progress.ok() || progress->done) break;
  }
  return (*simulator)->Report();
}

std::string Json(const std::string& path, uint32_t threads, uint64_t slice) {
  return ReportToJson(Report(path, threads, slice));
}

std::string Timeline(const RunReport& report) {
  std::string text;
  WriteTimeline(report, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  return text;
}

TEST(DeterminismTest, SameBytesOverRunsThreadsAndSlices) {
  const std::string path = MixedTrace();
  const std::string reference = Json(path, 1, 1'000'000);
  EXPECT_NE(reference.find("\"complete\""), std::string::npos);
  for (int run = 0; run < 4; ++run) EXPECT_EQ(Json(path, 1, 1'000'000), reference) << "run " << run;
  for (const uint32_t threads : {2u, 3u, 8u}) EXPECT_EQ(Json(path, threads, 1'000'000), reference) << threads;
  EXPECT_EQ(Json(path, 2, 1), reference) << "one window at a time";
  EXPECT_EQ(Json(path, 1, 777), reference);
}

TEST(DeterminismTest, SamplesAreTheSameAndChangeNothing) {
  const std::string path = MixedTrace();
  Config config =
      TestConfig({{"gpgpu_sm89_timeline_interval", "300"}, {"gpgpu_sm89_timeline_sm_tracks", "1"}});
  const RunReport reference = Report(path, 1, 1'000'000, config);
  ASSERT_GT(reference.intervals.samples.size(), 10u);
  IntervalSample sum;
  for (const IntervalSample& sample : reference.intervals.samples) {
    sum.warp_instructions += sample.warp_instructions;
    sum.l2_sectors += sample.l2_sectors;
    sum.dram_read_sectors += sample.dram_read_sectors;
  }
  EXPECT_EQ(sum.warp_instructions, reference.totals.sm.warp_instructions);
  EXPECT_EQ(sum.l2_sectors, reference.totals.l2.read_sectors + reference.totals.l2.write_sectors);
  EXPECT_EQ(sum.dram_read_sectors, reference.totals.dram.read_sectors);
  uint64_t issued = 0;
  for (const uint64_t count : reference.intervals.sm_issued) issued += count;
  EXPECT_EQ(issued, sum.warp_instructions);
  const std::string text = Timeline(reference);
  EXPECT_EQ(Timeline(Report(path, 3, 1'000'000, config)), text);
  EXPECT_EQ(Timeline(Report(path, 2, 1, config)), text) << "one window at a time";
  RunReport plain = Report(path, 1, 777);
  EXPECT_TRUE(plain.intervals.empty());
  plain.config_digest = reference.config_digest;
  EXPECT_EQ(ReportToJson(plain), ReportToJson(reference));
}

}  // namespace
}  // namespace sm89
