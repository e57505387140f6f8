#include <gtest/gtest.h>

#include <set>

#include "sim/report/text.h"
#include "tests/unit/sim_report/sample_report.h"

namespace sm89 {
namespace {

DerivedValue Get(std::string_view name, const SimStats& stats, uint64_t cycles, const RunReport& run) {
  return Derive(stats, cycles, run).at(DerivedIndex(name));
}

TEST(Derived, FiguresOfAKnownKernel) {
  const RunReport run = SampleReport();
  const KernelReport& k = run.kernels[0];
  const std::pair<const char*, double> rows[] = {
      {"time_us", 0.36},                  // 900 cycles of 0.4 ns
      {"ipc", 2.0},                       // 1800 / 900
      {"thread_ipc", 64.0},               //
      {"sm_ipc", 0.28125},                // 1800 / 6400
      {"threads_per_instruction", 32.0},  //
      {"achieved_occupancy", 50.0},       // 153,600 of 6400 x 48
      {"issue_slot_utilization", 7.03125},
      {"sm_activity", 100.0 * 6400 / (900.0 * 128)},
      {"l1_hit_rate", 25.0},
      {"l2_read_hit_rate", 50.0},
      {"sectors_per_request", 4.0},
      {"dram_read_bandwidth", 150.0 * 32 / 360},  // bytes a nanosecond
      {"stall_share_long_scoreboard", 50.0},
      {"masked_off_share", 0.0},
  };
  for (const auto& [name, expected] : rows) {
    const DerivedValue v = Get(name, k.stats, k.cycles, run);
    EXPECT_TRUE(v.defined) << name;
    EXPECT_DOUBLE_EQ(v.value, expected) << name;
  }
}

TEST(Derived, NothingIsDefinedWithoutADenominator) {
  RunReport empty;
  for (const DerivedValue& v : Derive(SimStats{}, 0, empty)) {
    EXPECT_FALSE(v.defined) << v.def->name;
    EXPECT_EQ(v.value, 0) << v.def->name;
  }
  const KernelReport k = SampleKernel(0, "k");
  EXPECT_FALSE(Get("shared_bank_conflict_rate", k.stats, k.cycles, SampleReport()).defined);
  EXPECT_FALSE(Get("l2_write_hit_rate", k.stats, k.cycles, SampleReport()).defined);
}

TEST(Derived, FrontEndAndRegisterFigures) {
  SimStats stats;
  stats.sm.issue_slots = 1000;
  stats.sm.warp_instructions = 400;
  stats.sm.issue_slots_stalled = 350;
  stats.sm.issue_slots_empty = 250;
  stats.sm.register_reads = 300;
  stats.sm.register_reuse_hits = 100;
  stats.sm.icache_l0_accesses = 200;
  stats.sm.icache_l0_misses = 50;
  stats.sm.icache_prefetch_hits = 40;
  stats.sm.constant_accesses = 80;
  stats.sm.constant_l0_misses = 16;
  stats.sm.constant_l1_misses = 4;
  stats.sm.inst_mem_constant = 20;
  stats.sm.tlb_accesses = 10;
  stats.sm.tlb_misses = 1;
  const std::pair<const char*, double> rows[] = {
      {"issue_slot_utilization", 40.0}, {"issue_slot_stalled_share", 35.0},
      {"issue_slot_empty_share", 25.0}, {"register_reuse_hit_rate", 25.0},
      {"icache_l0_miss_rate", 25.0},    {"icache_prefetch_coverage", 80.0},
      {"constant_l0_miss_rate", 20.0},  {"constant_l1_miss_rate", 4.0},
      {"tlb_miss_rate", 10.0},
  };
  for (const auto& [name, expected] : rows) {
    const DerivedValue v = Get(name, stats, 100, SampleReport());
    EXPECT_TRUE(v.defined) << name;
    EXPECT_DOUBLE_EQ(v.value, expected) << name;
  }
}

TEST(Derived, StallSharesOfACompleteAccountAddUp) {
  SimStats stats;
  for (int i = 0; i < kNumWarpStates; ++i) {
    stats.sm.*kWarpStateCounters[i] = 10u + i;
    stats.sm.resident_warp_cycles += 10u + i;
  }
  double sum = 0;
  size_t shares = 0;
  for (const DerivedValue& v : Derive(stats, 100, SampleReport())) {
    if (!v.def->name.starts_with("stall_share_")) continue;
    sum += v.value;
    ++shares;
  }
  EXPECT_EQ(shares, 18u);
  EXPECT_NEAR(sum, 100.0, 1e-9);
  const DerivedValue misc = Get("stall_share_misc", stats, 100, SampleReport());
  EXPECT_DOUBLE_EQ(misc.value, 100.0 * 27 / 333);  // 10 + 11 + ... + 27 = 333
}

TEST(Derived, EveryStallCounterHasAShare) {
  std::set<std::string_view> derived;
  for (const DerivedDef& def : AllDerivedDefs()) EXPECT_TRUE(derived.insert(def.name).second) << def.name;
  for (const StatDef& def : AllStatDefs()) {
    constexpr std::string_view kPrefix = "sm_stall_";
    if (!def.name.starts_with(kPrefix)) continue;
    EXPECT_TRUE(derived.contains("stall_share_" + std::string(def.name.substr(kPrefix.size())))) << def.name;
  }
}

TEST(Derived, DefinitionsSayUnitAndMeaning) {
  for (const DerivedDef& def : AllDerivedDefs()) {
    EXPECT_FALSE(def.unit.empty()) << def.name;
    EXPECT_TRUE(def.help.ends_with('.')) << def.name;
  }
}

TEST(IsComplete, NeedsEveryKernelWholeAndFinished) {
  EXPECT_TRUE(IsComplete(SampleReport()));
  RunReport run = SampleReport();
  run.kernels[1].finished = false;
  EXPECT_FALSE(IsComplete(run));
  run = SampleReport();
  run.kernels[0].info.complete = false;
  EXPECT_FALSE(IsComplete(run));
  for (RunStatus status : {RunStatus::kCycleLimit, RunStatus::kCancelled, RunStatus::kDeadlock}) {
    run = SampleReport();
    run.status = status;
    EXPECT_FALSE(IsComplete(run)) << Name(status);
  }
  run = SampleReport();
  run.marks = {{"foreign_arch", "mapped", 1}};
  EXPECT_TRUE(IsComplete(run)) << "a guess that the user asked for is a mark";
}

TEST(Text, Status) {
  RunReport run = SampleReport();
  EXPECT_EQ(StatusText(run), "complete");
  run.kernels[0].info.complete = false;
  EXPECT_EQ(StatusText(run), "complete, but the trace is partial");
  run.status = RunStatus::kCancelled;
  run.status_detail = "cancelled";
  EXPECT_EQ(StatusText(run), "cancelled");
  run.status_detail = "cycle 5\nwarp 3";
  EXPECT_EQ(StatusText(run), "cancelled: cycle 5 (the rest: status_detail of the JSON report)");
}

TEST(Text, CompactNumbers) {
  const std::pair<uint64_t, const char*> rows[] = {{0, "0"},
                                                   {9999, "9999"},
                                                   {10'000, "10.0K"},
                                                   {12'345, "12.3K"},
                                                   {99'949, "99.9K"},
                                                   {99'950, "100K"},
                                                   {999'499, "999K"},
                                                   {999'500, "1.00M"},
                                                   {1'257'472, "1.26M"},
                                                   {40'239'104, "40.2M"},
                                                   {9'995'000'000, "10.0G"},
                                                   {~uint64_t{0}, "18446744T"}};
  for (const auto& [value, text] : rows) EXPECT_EQ(Compact(value), text);
}

TEST(Text, PrintableRemovesWhatATerminalWouldObey) {
  EXPECT_EQ(Printable("a\x1b[31mb"), "a?[31mb");
  EXPECT_EQ(Printable("tab\tnew\nline\x7f"), "tab?new?line?");
  EXPECT_EQ(Printable("c1\xc2\x9bx"), "c1?x");
  EXPECT_EQ(Printable("bad\xff"), "bad\xef\xbf\xbd");
  EXPECT_EQ(Printable("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
}

}  // namespace
}  // namespace sm89
