// The reordering stage on whole programs: no thread instruction is lost or doubled, its accounts add up, what
// does not diverge is left alone, and its trace is there whenever it did something.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "sim/stats/pc_profile.h"
#include "tests/support/trace_builder.h"

namespace sm89 {
namespace {

using testing::KernelScript;
using testing::TestConfig;
using testing::WarpScript;
using testing::WriteTrace;

struct Result {
  RunReport report;
  std::vector<SerRecord> decisions;
  const SmStats& sm() const { return report.totals.sm; }
};

Result Stepped(const std::string& trace, bool enabled, uint32_t threads = 1, uint32_t policy = 0) {
  Result result;
  SimulatorOptions options;
  options.config = TestConfig();
  options.config.gpu.ser.enabled = enabled;
  options.config.gpu.ser.policy = policy;
  options.config.gpu.ser.profile_interval_cycles = 2'000;
  options.trace_path = trace;
  options.threads = threads;
  if (enabled) {
    options.ser_sink = [&result](std::span<const SerRecord> records) {
      result.decisions.insert(result.decisions.end(), records.begin(), records.end());
    };
  }
  auto simulator = Simulator::Create(std::move(options));
  EXPECT_TRUE(simulator.ok()) << simulator.status();
  for (bool done = false; !done;) {
    const auto progress = (*simulator)->Advance(1 << 20);
    EXPECT_TRUE(progress.ok()) << progress.status();
    done = !progress.ok() || progress->done;
  }
  result.report = (*simulator)->Report();
  EXPECT_EQ(result.report.status, RunStatus::kComplete) << result.report.status_detail;
  return result;
}

// A kernel of 64 warps an SM whose warps take `paths` of 16 instructions one after the other, a share of the
// lanes each, many times over.
KernelScript Divergent(uint32_t paths) {
  KernelScript kernel;
  kernel.info.grid = {16, 1, 1};
  kernel.info.block = {256, 1, 1};
  kernel.info.nregs = 32;
  kernel.warp = [paths](uint32_t /*cta*/, uint32_t warp) {
    WarpScript s;
    std::mt19937 random(warp);
    for (uint32_t round = 0; round < 20; ++round) {
      s.At(0).Op("ISETP.NE.AND", {}, {1}).Op("BRA", {}, {});
      for (uint32_t path = 0; path < paths; ++path) {
        LaneMask lanes = 0;
        for (uint32_t lane = 0; lane < 32; ++lane) {
          if (lane * paths / 32 == path) lanes |= LaneMask{1} << lane;
        }
        s.At(0x1000 + 0x400 * path);
        for (int i = 0; i < 12; ++i) s.Op("FFMA", {4 + i}, {2, 3, 4 + i}, lanes);
        for (int i = 0; i < 3; ++i) s.Op("MUFU.RCP", {20 + i}, {2}, lanes);
        s.Op("BRA", {}, {}, lanes);
      }
    }
    return s.At(0x20000).Op("EXIT");
  };
  return kernel;
}

void ExpectSameWork(const Result& off, const Result& on, const std::string& where) {
  EXPECT_EQ(on.sm().warp_instructions, off.sm().warp_instructions) << where;
  EXPECT_EQ(on.sm().thread_instructions, off.sm().thread_instructions) << where;
  EXPECT_EQ(on.sm().inst_fp32, off.sm().inst_fp32) << where;
  EXPECT_EQ(on.sm().inst_mem_global, off.sm().inst_mem_global) << where;
  EXPECT_EQ(on.sm().warps_completed, off.sm().warps_completed) << where;
  const SmStats& sm = on.sm();
  EXPECT_EQ(sm.warp_instructions - sm.ser_merges + sm.issue_slots_stalled + sm.issue_slots_empty,
            sm.issue_slots)
      << where;
  EXPECT_EQ(sm.stall_selected, sm.warp_instructions) << where;
  EXPECT_EQ(on.decisions.size(), sm.ser_invocations) << where;
  uint64_t moved = 0;
  uint64_t merges = 0;
  for (const SerRecord& decision : on.decisions) {
    if (!decision.issued) continue;
    moved += static_cast<uint64_t>(__builtin_popcount(decision.lanes));
    merges += decision.reason == SerReason::kBranchDiv;
  }
  EXPECT_EQ(moved, sm.ser_moved_threads) << where;
  EXPECT_EQ(merges, sm.ser_merges) << where;
  EXPECT_TRUE(std::is_sorted(on.decisions.begin(), on.decisions.end(),
                             [](const SerRecord& a, const SerRecord& b) { return a.cycle < b.cycle; }));
}

TEST(Reordering, InvocationsGrowWithDivergenceAndUniformCodeIsLeftAlone) {
  uint64_t before = 0;
  for (const uint32_t paths : {1u, 2u, 4u, 8u, 16u}) {
    const std::string trace = WriteTrace({Divergent(paths)});
    const Result off = Stepped(trace, false);
    const Result on = Stepped(trace, true);
    ExpectSameWork(off, on, std::to_string(paths) + " paths");
    std::printf("%2u paths: %8u cycles off, %8u on, %u decisions, %u merged, %u redirected\n", paths,
                static_cast<unsigned>(off.report.total_cycles), static_cast<unsigned>(on.report.total_cycles),
                static_cast<unsigned>(on.sm().ser_invocations), static_cast<unsigned>(on.sm().ser_merges),
                static_cast<unsigned>(on.sm().ser_redirects));
    if (paths == 1) {
      EXPECT_EQ(on.sm().ser_invocations, 0u);
      EXPECT_EQ(on.report.total_cycles, off.report.total_cycles) << "not a cycle of uniform code changes";
    } else {
      EXPECT_GT(on.sm().ser_invocations, before) << paths;
    }
    before = on.sm().ser_invocations;
  }
}

WarpScript RandomWarp(uint64_t seed) {
  std::mt19937_64 random(seed);
  WarpScript s;
  for (uint32_t part = 0; part < 3; ++part) {
    for (uint32_t block = 0; block < 6; ++block) {
      const LaneMask lanes = random() % 3 == 0 ? ~LaneMask{0} : static_cast<LaneMask>(random() | 1);
      uint32_t pc = part * 0x1000 + static_cast<uint32_t>(random() % 4) * 0x100;
      s.At(pc);
      for (uint32_t i = 0; i < 12; ++i, pc += 16) {
        // One instruction at each address, so that warps meet.
        const uint32_t hash = pc * 2'654'435'761u >> 8;
        const int r = 4 + static_cast<int>(hash % 20);
        const uint64_t address = 0x7f4c80000000 + random() % 65536 * 16;
        switch (hash / 32 % 6) {
          case 0:
            s.Mem("LDG.E", {r}, {2}, address, 4, lanes);
            break;
          case 1:
            s.Op("MUFU.RSQ", {r}, {3}, lanes);
            break;
          case 2:
            s.Mem("STG.E", {}, {2, r}, address, 4, lanes);
            break;
          default:
            s.Op("FFMA", {r}, {2, 3, r}, lanes);
        }
      }
    }
    s.At(part * 0x1000 + 0xF00).Op("BAR.SYNC");
  }
  return s.At(0x9000).Op("EXIT");
}

TEST(Reordering, LosesAndDoublesNothingUnderRandomDivergence) {
  uint64_t decisions = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    KernelScript kernel;
    kernel.info.grid = {1 + static_cast<uint32_t>(seed * 5), 1, 1};
    kernel.info.block = {32 * (1 + static_cast<uint32_t>(seed % 8)), 1, 1};
    kernel.info.nregs = 32;
    kernel.warp = [seed](uint32_t cta, uint32_t warp) {
      return RandomWarp(seed * 1'000'003 + cta * 64 + warp);
    };
    const std::string trace = WriteTrace({kernel});
    const Result off = Stepped(trace, false);
    for (const uint32_t policy : {0u, 1u}) {
      const Result on = Stepped(trace, true, 1, policy);
      ExpectSameWork(off, on, "seed " + std::to_string(seed));
      decisions += on.decisions.size();
    }
  }
  EXPECT_GT(decisions, 0u) << "the programs never made the stage do anything";
}

TEST(Reordering, ThreadsOfTheHostChangeNothing) {
  const std::string trace = WriteTrace({Divergent(4)});
  const Result one = Stepped(trace, true, 1);
  const Result three = Stepped(trace, true, 3);
  EXPECT_EQ(ReportToJson(one.report), ReportToJson(three.report));
  EXPECT_EQ(one.decisions, three.decisions);
}

TEST(Reordering, ATraceOfDecisionsNeedsTheStage) {
  const std::string trace = WriteTrace({Divergent(2)});
  SimulatorOptions options;
  options.config = TestConfig();
  options.trace_path = trace;
  options.ser_sink = [](std::span<const SerRecord>) {};
  const auto simulator = Simulator::Create(std::move(options));
  ASSERT_FALSE(simulator.ok());
  EXPECT_NE(simulator.status().message().find("ser_enabled"), std::string::npos) << simulator.status();
}

}  // namespace
}  // namespace sm89
