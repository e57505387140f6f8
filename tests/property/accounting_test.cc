// Sums that hold for every kernel: issue slots, warp states, and the profile by instruction. Neither threads
// nor profiling change a figure.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "sim/stats/pc_profile.h"
#include "tests/support/example_kernels.h"
#include "tests/support/trace_builder.h"

namespace sm89 {
namespace {

using testing::KernelScript;
using testing::Simulate;
using testing::TestConfig;
using testing::WarpScript;
using testing::WriteTrace;

void ExpectSlotsAndStatesAddUp(const SmStats& sm, const std::string& where) {
  EXPECT_GT(sm.warp_instructions, 0u) << where;
  EXPECT_EQ(sm.warp_instructions + sm.issue_slots_stalled + sm.issue_slots_empty, sm.issue_slots) << where;
  uint64_t states = 0;
  for (uint64_t SmStats::*counter : kWarpStateCounters) states += sm.*counter;
  EXPECT_EQ(states, sm.resident_warp_cycles) << where;
  EXPECT_EQ(sm.stall_selected, sm.warp_instructions) << where;
}

void ExpectProfileAddsUp(const KernelReport& kernel) {
  ASSERT_FALSE(kernel.per_pc.empty()) << kernel.info.name;
  PcCounters sum;
  for (size_t i = 0; i < kernel.per_pc.size(); ++i) {
    const PcCounters& counters = kernel.per_pc[i].counters;
    sum.issued += counters.issued;
    sum.threads += counters.threads;
    for (int s = 0; s < kNumWarpStates; ++s) sum.cycles[s] += counters.cycles[s];
    EXPECT_EQ(counters.cycles[static_cast<int>(WarpState::kSelected)], counters.issued)
        << kernel.info.name << " pc " << kernel.per_pc[i].pc;
    EXPECT_LE(counters.threads, counters.issued * kWarpSize);
    EXPECT_GE(kernel.per_pc[i].pc, kernel.per_pc[i == 0 ? 0 : i - 1].pc);
  }
  const SmStats& sm = kernel.stats.sm;
  EXPECT_EQ(sum.issued, sm.warp_instructions) << kernel.info.name;
  EXPECT_EQ(sum.threads, sm.thread_instructions) << kernel.info.name;
  for (int s = 0; s < kNumWarpStates; ++s) {
    EXPECT_EQ(sum.cycles[s], sm.*kWarpStateCounters[s])
        << kernel.info.name << " " << Name(static_cast<WarpState>(s));
  }
}

void ExpectAccounts(const RunReport& report) {
  ASSERT_EQ(report.status, RunStatus::kComplete) << report.status_detail;
  ASSERT_FALSE(report.kernels.empty());
  for (const KernelReport& kernel : report.kernels) {
    ExpectSlotsAndStatesAddUp(kernel.stats.sm, kernel.info.name);
    ExpectProfileAddsUp(kernel);
  }
  ExpectSlotsAndStatesAddUp(report.totals.sm, "total");
}

std::string JsonWithoutProfile(RunReport report) {
  for (KernelReport& kernel : report.kernels) kernel.per_pc.clear();
  return ReportToJson(report);
}

class ExampleAccounting : public ::testing::TestWithParam<std::string> {};

TEST_P(ExampleAccounting, SumsHoldForMachineCode) {
  const auto one = testing::RunExampleKernel(GetParam(), 1, 1'000'000, true);
  ASSERT_TRUE(one.ok()) << one.status();
  ExpectAccounts(one->report);
  const auto two = testing::RunExampleKernel(GetParam(), 2, 5'000, true);
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_EQ(ReportToJson(two->report), ReportToJson(one->report)) << "two threads";
  const auto plain = testing::RunExampleKernel(GetParam(), 1, 1'000'000);
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(ReportToJson(plain->report), JsonWithoutProfile(one->report)) << "profiling changed a figure";
}

INSTANTIATE_TEST_SUITE_P(Kernels, ExampleAccounting, ::testing::ValuesIn(testing::ExampleKernelNames()),
                         [](const auto& test) { return test.param; });

// Every unit, barriers, divergent masks and two streams whose kernels share SMs.
std::string SyntheticTrace(uint64_t seed) {
  std::vector<KernelScript> kernels(3);
  for (uint32_t k = 0; k < kernels.size(); ++k) {
    KernelScript& kernel = kernels[k];
    kernel.info.id = k + 1;
    kernel.info.name = "kernel_" + std::to_string(k + 1);
    kernel.info.stream_id = k % 2;
    kernel.info.grid = {200 + 37 * k, 1, 1};
    kernel.info.block = {96, 1, 1};
    kernel.info.shmem_bytes = 4096;
    kernel.warp = [seed, k](uint32_t cta, uint32_t warp) {
      std::mt19937_64 rng(seed * 1'000'003 + k * 100'003 + cta * 4 + warp);
      WarpScript s;
      for (int i = 0; i < 5; ++i) {
        const LaneMask mask = rng() % 3 == 0 ? static_cast<LaneMask>(rng()) | 1u : ~0u;
        const uint64_t base = 0x7f4c80000000 + rng() % (1 << 22) * 32;
        s.At(static_cast<uint32_t>(i) * 0x100);
        s.Mem("LDG.E", {4}, {2}, base, 4, mask).Op("FFMA", {5}, {4, 5}, mask).Op("MUFU.EX2", {7}, {5}, mask);
        s.Op("DFMA", {8}, {8, 10}).Op("HMMA.16816.F32", {12}, {16, 20, 12}).Op("IMAD.WIDE", {2}, {5, 6});
        s.Mem("STS", {}, {3, 5}, warp * 128, 4, mask).Op("BAR.SYNC").Mem("LDS", {6}, {3}, 0, 8);
        s.Mem("RED.E.ADD", {}, {2, 6}, 0x7f4c90000000 + cta % 7 * 4, 0, 1);
        s.Mem("STG.E", {}, {2, 6}, base, 4, mask);
      }
      return s.At(0x2000).Op("EXIT");
    };
  }
  return WriteTrace(kernels);
}

class SyntheticAccounting : public ::testing::TestWithParam<uint64_t> {};

TEST_P(SyntheticAccounting, SumsHoldForTraces) {
  const std::string path = SyntheticTrace(GetParam());
  const RunReport one = Simulate(path, TestConfig(), 1, 0, true);
  ExpectAccounts(one);
  EXPECT_EQ(ReportToJson(Simulate(path, TestConfig(), 2, 0, true)), ReportToJson(one)) << "two threads";
  EXPECT_EQ(ReportToJson(Simulate(path, TestConfig())), JsonWithoutProfile(one));
}

INSTANTIATE_TEST_SUITE_P(Seeds, SyntheticAccounting, ::testing::Range<uint64_t>(1, 4));

// A run that ends early has accounts as well: what was counted belongs to one state and one slot each.
TEST(Accounting, HoldsAtACycleLimit) {
  const RunReport report = Simulate(SyntheticTrace(9), TestConfig(), 1, 9'000, true);
  ASSERT_EQ(report.status, RunStatus::kCycleLimit);
  ASSERT_FALSE(report.kernels.empty());
  ExpectSlotsAndStatesAddUp(report.totals.sm, "total");
  for (const KernelReport& kernel : report.kernels) {
    if (kernel.stats.sm.warp_instructions != 0) ExpectProfileAddsUp(kernel);
  }
}

}  // namespace
}  // namespace sm89
