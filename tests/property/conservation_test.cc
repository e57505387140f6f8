// Laws that hold for any trace: nothing is lost between trace, SM, network, caches and DRAM.
#include <gtest/gtest.h>

#include <random>

#include "tests/support/trace_builder.h"

namespace sm89 {
namespace {

using testing::KernelScript;
using testing::Simulate;
using testing::TestConfig;
using testing::WarpScript;
using testing::WriteTrace;

WarpScript RandomWarp(std::mt19937_64* rng) {
  WarpScript s;
  const auto pick = [&](uint64_t n) { return (*rng)() % n; };
  const int length = static_cast<int>(1 + pick(40));
  for (int i = 0; i < length; ++i) {
    const LaneMask mask = pick(4) == 0 ? static_cast<LaneMask>((*rng)()) : ~0u;
    const int a = static_cast<int>(2 + pick(30));
    const int b = static_cast<int>(2 + pick(30));
    const uint64_t base = 0x7f0000000000 + pick(1 << 20) * 4;
    const auto stride = static_cast<int64_t>(pick(64)) * 4;
    switch (pick(10)) {
      case 0:
        s.Mem("LDG.E", {a}, {b}, base, stride, mask);
        break;
      case 1:
        s.Mem("STG.E.64", {}, {a, b}, base & ~uint64_t{7}, stride * 2, mask);
        break;
      case 2:
        s.Mem("LDS", {a}, {b}, base % 4096, stride % 128, mask);
        break;
      case 3:
        s.Mem("ATOMG.E.ADD", {a}, {b, a}, base, 0, mask);
        break;
      case 4:
        s.Mem("LDL", {a}, {b}, pick(256) * 4, 0, mask);
        break;
      case 5:
        s.Mem("STL", {}, {a, b}, pick(256) * 4, 0, mask);
        break;
      case 6:
        s.Op("BAR.SYNC");
        break;
      case 7:
        s.Op("MUFU.EX2", {a}, {b}, mask);
        break;
      case 8:
        s.Op("HMMA.16816.F32", {4}, {8, 12, 4});
        break;
      default:
        s.Op("FFMA", {a}, {a, b}, mask);
        break;
    }
  }
  return s.Op("EXIT");
}

class ConservationTest : public ::testing::TestWithParam<uint64_t> {};

TEST_P(ConservationTest, WhatGoesInComesOut) {
  std::mt19937_64 rng(GetParam());
  KernelScript kernel;
  kernel.info.grid = {static_cast<uint32_t>(1 + rng() % 300), 1, 1};
  kernel.info.block = {static_cast<uint32_t>(1 + rng() % 256), 1, 1};
  kernel.info.nregs = 40;
  uint64_t instructions = 0;
  uint64_t lanes = 0;
  kernel.warp = [&](uint32_t, uint32_t) {
    const WarpScript script = RandomWarp(&rng);
    for (const auto& line : script.lines()) lanes += static_cast<uint32_t>(__builtin_popcount(line.mask));
    instructions += script.lines().size();
    return script;
  };
  const std::string path = WriteTrace({kernel});
  const RunReport report = Simulate(path, TestConfig({{"-gpgpu_kernel_launch_latency", "100"}}));
  ASSERT_EQ(report.status, RunStatus::kComplete) << report.status_detail;
  const SimStats& t = report.totals;
  EXPECT_EQ(t.sm.warp_instructions, instructions);
  EXPECT_EQ(t.sm.thread_instructions, lanes);
  EXPECT_EQ(t.noc.request_packets, t.noc.reply_packets);
  EXPECT_LE(t.l1.global_load_hits + t.l1.global_load_mshr_hits, t.l1.global_load_sectors);
  EXPECT_EQ(t.l2.atomic_sectors, t.l1.atomic_sectors);
  // Every sector that DRAM reads was missed in the L2, and no sector is read twice for one miss.
  EXPECT_LE(t.dram.read_sectors, t.l2.read_sectors - t.l2.read_hits + t.l2.atomic_sectors);
  uint64_t slice_reads = 0;
  for (const L2Stats& slice : report.units.slices) slice_reads += slice.read_sectors;
  EXPECT_EQ(slice_reads, t.l2.read_sectors);
  uint64_t channel_reads = 0;
  for (const DramStats& channel : report.units.channels) channel_reads += channel.read_sectors;
  EXPECT_EQ(channel_reads, t.dram.read_sectors);
  EXPECT_EQ(t.sm.stall_selected, t.sm.warp_instructions);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ConservationTest, ::testing::Range<uint64_t>(1, 25));

}  // namespace
}  // namespace sm89
