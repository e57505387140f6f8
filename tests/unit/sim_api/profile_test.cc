// The profile of a simulated run: asked for, bounded, the kernels' own rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "sim/base/fault.h"
#include "sim/stats/pc_profile.h"
#include "tests/support/example_kernels.h"
#include "tests/support/trace_builder.h"

namespace sm89 {
namespace {

using ::testing::HasSubstr;
using testing::KernelScript;
using testing::Simulate;
using testing::TestConfig;
using testing::WarpScript;
using testing::WriteTrace;

KernelScript Kernel(uint32_t instructions) {
  KernelScript kernel;
  kernel.info.name = "chain";
  kernel.info.grid = {3, 1, 1};
  kernel.info.block = {64, 1, 1};
  kernel.warp = [instructions](uint32_t, uint32_t) {
    WarpScript s;
    for (uint32_t i = 1; i < instructions; ++i) s.Op("FADD", {4}, {4, 5}, 0xff);
    return s.Op("EXIT");
  };
  return kernel;
}

TEST(Profile, HasARowForEachInstruction) {
  const RunReport report = Simulate(WriteTrace({Kernel(10), Kernel(3)}), TestConfig(), 1, 0, true);
  ASSERT_EQ(report.kernels.size(), 2u);
  EXPECT_EQ(report.kernels[1].per_pc.size(), 3u);
  const auto& rows = report.kernels[0].per_pc;
  ASSERT_EQ(rows.size(), 10u);
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].pc, 16 * i);
    EXPECT_EQ(rows[i].opcode, i < 9 ? "FADD" : "EXIT");
    EXPECT_EQ(rows[i].counters.issued, 6u) << "3 CTAs of 2 warps";
    EXPECT_EQ(rows[i].counters.threads, i < 9 ? 6u * 8 : 6u * 32);
  }
}

struct Sum {
  PcCounters counters;
  uint64_t cycles = 0;
};

Sum SumOf(const KernelReport& kernel) {
  PcProfile total(1);
  for (const PcReport& row : kernel.per_pc) AddProfile({row.counters}, &total);
  Sum sum{total[0]};
  for (const uint64_t cycles : sum.counters.cycles) sum.cycles += cycles;
  return sum;
}

// Every counter of every real kernel: the sum over its instructions is the kernel's own figure.
TEST(Profile, AddsUpToTheKernelsStatistics) {
  for (const std::string& name : testing::ExampleKernelNames()) {
    for (const uint32_t threads : {1u, 2u}) {
      const auto run = testing::RunExampleKernel(name, threads, 1'000'000, true);
      ASSERT_TRUE(run.ok()) << run.status();
      const KernelReport& kernel = run->report.kernels.at(0);
      const Sum sum = SumOf(kernel);
      const SimStats& stats = kernel.stats;
      const PcMemory& memory = sum.counters.memory;
      EXPECT_EQ(sum.counters.issued, stats.sm.warp_instructions) << name;
      EXPECT_EQ(sum.counters.threads, stats.sm.thread_instructions) << name;
      EXPECT_EQ(sum.cycles, stats.sm.resident_warp_cycles) << name;
      EXPECT_EQ(memory.requests, stats.l1.requests) << name;
      EXPECT_EQ(memory.load_sectors, stats.l1.global_load_sectors + stats.l1.local_load_sectors) << name;
      EXPECT_EQ(memory.load_hits, stats.l1.global_load_hits + stats.l1.local_load_hits) << name;
      EXPECT_EQ(memory.store_sectors, stats.l1.global_store_sectors + stats.l1.local_store_sectors) << name;
      EXPECT_EQ(memory.other_sectors, stats.l1.atomic_sectors + stats.l1.bypass_sectors) << name;
      EXPECT_EQ(memory.shared_accesses, stats.l1.shared_accesses) << name;
      EXPECT_EQ(memory.shared_passes, stats.l1.shared_passes) << name;
      EXPECT_EQ(memory.shared_bank_conflicts, stats.l1.shared_bank_conflicts) << name;
      EXPECT_EQ(memory.l2_read_sectors, stats.l2.read_sectors) << name;
      EXPECT_EQ(memory.l2_read_hits, stats.l2.read_hits) << name;
      EXPECT_GT(memory.l2_read_sectors, 0u) << name;
    }
  }
}

TEST(Profile, OfACubinHasSassLinesPtxAndLiveRegisters) {
  const auto run = testing::RunExampleKernel("vector_add", 1, 1'000'000, true);
  ASSERT_TRUE(run.ok()) << run.status();
  const KernelReport& kernel = run->report.kernels.at(0);
  ASSERT_FALSE(kernel.source_files.empty());
  EXPECT_THAT(kernel.source_files[0], HasSubstr("vector_add.cu"));
  size_t loads = 0;
  for (const PcReport& row : kernel.per_pc) {
    EXPECT_FALSE(row.note.sass.empty()) << row.pc;
    EXPECT_THAT(row.note.sass, HasSubstr(row.opcode));
    EXPECT_GT(row.note.live_registers, 0) << row.pc;
    if (!row.opcode.starts_with("LDG")) continue;
    ++loads;
    EXPECT_THAT(row.note.ptx, HasSubstr("ld.global")) << row.pc;
    EXPECT_GT(row.source_line, 0u);
    EXPECT_EQ(row.note.file, 1u);
  }
  EXPECT_GE(loads, 2u);
}

TEST(Profile, AsJsonHasRowsTotalsAndLines) {
  const auto run = testing::RunExampleKernel("histogram", 1, 1'000'000, true);
  ASSERT_TRUE(run.ok()) << run.status();
  const auto json = nlohmann::json::parse(ProfileToJson(run->report), nullptr, false);
  ASSERT_EQ(json["format"], "sm89-profile/1");
  const size_t counters = json["counter_columns"].size();
  EXPECT_EQ(counters, 2u + kNumWarpStates + kNumPcMemory);
  const auto& kernel = json["kernels"].at(0);
  const size_t leading = json["row_columns"].size();
  for (size_t c = 0; c < counters; ++c) {
    uint64_t rows = 0, lines = 0;
    for (const auto& row : kernel["rows"]) rows += row.at(leading + c).get<uint64_t>();
    for (const auto& row : kernel["lines"]) lines += row.at(2 + c).get<uint64_t>();
    EXPECT_EQ(rows, kernel["total"].at(c)) << json["counter_columns"][c];
    EXPECT_EQ(lines, kernel["total"].at(c)) << json["counter_columns"][c];
  }
  EXPECT_GT(kernel["lines"].size(), 3u);
  EXPECT_EQ(kernel["rows"].size(), run->report.kernels[0].per_pc.size());
}

// What a watcher sees: rows of the report, most waited for first; looking changes nothing.
TEST(Profile, IsReadWhileItRuns) {
  const auto options = [](uint32_t threads) {
    SimulatorOptions given;
    given.config = TestConfig();
    given.trace_path = WriteTrace({Kernel(40), Kernel(10)});
    given.profile = true;
    given.threads = threads;
    return given;
  };
  const auto blind = Simulator::Create(options(1));
  ASSERT_TRUE(blind.ok()) << blind.status();
  while (!(*blind)->Advance(1'000'000).value().done) {
  }
  const std::string expected = ProfileToJson((*blind)->Report());
  for (const uint32_t threads : {1u, 2u}) {
    auto watched = Simulator::Create(options(threads));
    ASSERT_TRUE(watched.ok()) << watched.status();
    EXPECT_EQ((*watched)->Waits(4).instructions, 0u) << "no kernel has started";
    uint64_t last = 0, seen = 0;
    bool done = false;
    while (!done) {
      done = (*watched)->Advance(64).value().done;
      const KernelWaits waits = (*watched)->Waits(4);
      if (waits.instructions == 0) continue;
      ++seen;
      EXPECT_LE(waits.top.size(), 4u);
      uint64_t before = ~uint64_t{0}, rows = 0;
      for (const PcReport& row : waits.top) {
        const uint64_t waited = WaitedCycles(row.counters);
        EXPECT_LE(waited, before);
        EXPECT_GT(waited, 0u);
        before = waited;
        rows += waited;
      }
      EXPECT_LE(rows, WaitedCycles(waits.total));
      if (waits.kernel_index == 0) {
        EXPECT_GE(waits.total.issued, last);
        last = waits.total.issued;
        EXPECT_EQ(waits.instructions, 40u);
      }
    }
    EXPECT_GT(seen, 5u);
    EXPECT_EQ(ProfileToJson((*watched)->Report()), expected);
    // At the end: the last kernel's totals.
    const RunReport report = (*watched)->Report();
    const KernelWaits end = (*watched)->Waits(100);
    EXPECT_EQ(end.kernel_name, "chain");
    EXPECT_EQ(end.kernel_index, 1u);
    EXPECT_EQ(end.total.issued, report.kernels[1].stats.sm.warp_instructions);
    EXPECT_EQ(WaitedCycles(end.total),
              SumOf(report.kernels[1]).cycles - SumOf(report.kernels[1]).counters.cycles[0]);
  }
}

TEST(Profile, IsEmptyUnlessAskedFor) {
  const RunReport report = Simulate(WriteTrace({Kernel(10)}), TestConfig());
  EXPECT_TRUE(report.kernels.at(0).per_pc.empty());
}

// Each host thread counts by itself, so the bound on instructions falls with threads.
TEST(Profile, IsBounded) {
  SimulatorOptions options;
  options.config = TestConfig();
  options.trace_path = WriteTrace({Kernel(8000)});
  options.threads = 256;
  options.profile = true;
  const auto refused = Simulator::Create(options);
  ASSERT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument) << refused.status();
  ASSERT_EQ(FaultsOf(refused.status()).size(), 1u);
  EXPECT_EQ(FaultsOf(refused.status())[0].field, "profile");
  EXPECT_EQ(FaultsOf(refused.status())[0].value, "8000 instructions");
  EXPECT_THAT(FaultsOf(refused.status())[0].expected, HasSubstr("at most 7782 with 256 thread"));
  options.profile = false;
  EXPECT_TRUE(Simulator::Create(options).ok()) << "without a profile there is no such bound";
  options.profile = true;
  options.threads = 1;
  EXPECT_TRUE(Simulator::Create(options).ok());
}

}  // namespace
}  // namespace sm89
