// Random programs through the whole GPU: accounts that add up, one and two host threads that agree; and the
// watchdog, which tells waiting from being stuck.
#include <gtest/gtest.h>

#include <random>

#include "sim/stats/pc_profile.h"
#include "tests/support/trace_builder.h"

namespace sm89 {
namespace {

using testing::KernelScript;
using testing::Simulate;
using testing::TestConfig;
using testing::WarpScript;
using testing::WriteTrace;

constexpr uint64_t kGlobal = 0x7f4c80000000;

class RandomKernel {
 public:
  explicit RandomKernel(uint64_t seed) : seed_(seed), rng_(seed) {
    warps_ = 1 + Pick(8);
    ctas_ = 1 + Pick(60);
    parts_ = 1 + Pick(4);
  }

  KernelScript Script(uint32_t id) {
    KernelScript kernel;
    kernel.info.id = id;
    kernel.info.grid = {ctas_, 1, 1};
    kernel.info.block = {32 * warps_, 1, 1};
    kernel.info.nregs = 40;
    kernel.info.shmem_bytes = 4096;
    kernel.info.stream_id = id % 2;
    kernel.warp = [this](uint32_t cta, uint32_t warp) {
      rng_.seed(seed_ * 1'000'003 + cta * 64 + warp);
      return Warp();
    };
    return kernel;
  }

 private:
  uint32_t Pick(uint32_t n) { return static_cast<uint32_t>(rng_() % n); }

  // Every warp of a CTA comes to as many barriers; loops and skipped blocks make the rest differ.
  WarpScript Warp() {
    WarpScript s;
    for (uint32_t part = 0; part < parts_; ++part) {
      const uint32_t begin = part * 0x1000;
      for (uint32_t i = Pick(3) + 1; i > 0; --i) {
        s.At(begin);
        for (uint32_t n = Pick(20); n > 0; --n) Any(&s);
      }
      s.At(begin + 0xF00).Op("BAR.SYNC");
    }
    if (Pick(2) == 0) s.Op("LDGDEPBAR").Op("DEPBAR.LE", {}, {}, ~LaneMask{0}, Pick(2));
    return s.At(parts_ * 0x1000).Op("EXIT");
  }

  void Any(WarpScript* s) {
    const LaneMask mask = Pick(5) == 0 ? static_cast<LaneMask>(rng_()) : ~LaneMask{0};
    const int a = static_cast<int>(2 + Pick(30));
    const int b = static_cast<int>(2 + Pick(30));
    const uint64_t base = kGlobal + Pick(1 << 18) * 16;
    const auto stride = static_cast<int64_t>(Pick(9)) * 4;
    switch (Pick(18)) {
      case 0:
        s->Mem("LDG.E", {a}, {b}, base, stride, mask);
        break;
      case 1:
        s->Mem("LDG.E.128", {4}, {b}, base, 16, mask);
        break;
      case 2:
        s->Mem("STG.E", {}, {b, a}, base, stride, mask);
        break;
      case 3:
        s->Mem("RED.E.ADD", {}, {b, a}, kGlobal + Pick(4) * 4, 0, mask);
        break;
      case 4:
        s->Mem("LDS", {a}, {b}, Pick(512) * 4, stride, mask);
        break;
      case 5:
        s->Mem("STS", {}, {b, a}, Pick(512) * 4, stride, mask);
        break;
      case 6:
        s->Mem("LDGSTS.E.BYPASS.128", {}, {10, b}, base, 16, mask);
        break;
      case 7:
        s->Op("LDGDEPBAR");
        break;
      case 8:
        s->Op("MUFU.RCP", {a}, {b}, mask);
        break;
      case 9:
        s->Op("DFMA", {4}, {6, 8, 4}, mask);
        break;
      case 10:
        s->Op("HMMA.16816.F32", {4}, {8, 12, 4});
        break;
      case 11:
        s->Op("SHFL.IDX", {a}, {b}, mask);
        break;
      case 12:
        s->Op("ISETP.GE.AND", {}, {a, b}, mask);
        break;
      case 13:
        s->Op(Pick(3) == 0 ? "MEMBAR.SC.GPU" : "NANOSLEEP", {}, {}, ~LaneMask{0}, Pick(300));
        break;
      default:
        s->Op(Pick(2) == 0 ? "FFMA" : "IMAD", {a}, {a, b, static_cast<int>(2 + Pick(30))}, mask);
        break;
    }
  }

  uint64_t seed_;
  std::mt19937_64 rng_;
  uint32_t warps_ = 1;
  uint32_t ctas_ = 1;
  uint32_t parts_ = 1;
};

std::string RandomTrace(uint64_t seed) {
  RandomKernel first(seed * 2);
  RandomKernel second(seed * 2 + 1);
  return WriteTrace({first.Script(1), second.Script(2)});
}

void ExpectAccounts(const KernelReport& kernel) {
  const SmStats& sm = kernel.stats.sm;
  EXPECT_EQ(sm.warp_instructions + sm.issue_slots_stalled + sm.issue_slots_empty, sm.issue_slots);
  EXPECT_EQ(sm.stall_selected, sm.warp_instructions);
  EXPECT_EQ(sm.warp_instructions, kernel.info.warp_instructions);
  EXPECT_EQ(sm.stall_misc, 0u);
  uint64_t states = 0;
  for (int s = 0; s < kNumWarpStates; ++s) {
    states += sm.*kWarpStateCounters[s];
    uint64_t by_pc = 0;
    for (const PcReport& row : kernel.per_pc) by_pc += row.counters.cycles[s];
    EXPECT_EQ(by_pc, sm.*kWarpStateCounters[s]) << Name(static_cast<WarpState>(s));
  }
  EXPECT_EQ(states, sm.resident_warp_cycles);
}

class RandomProgramsTest : public ::testing::TestWithParam<uint64_t> {};

TEST_P(RandomProgramsTest, AccountsAddUpAndThreadsDoNotShow) {
  const std::string path = RandomTrace(GetParam());
  const RunReport one = Simulate(path, TestConfig(), 1, 0, true);
  ASSERT_EQ(one.status, RunStatus::kComplete) << one.status_detail;
  for (const KernelReport& kernel : one.kernels) ExpectAccounts(kernel);
  EXPECT_EQ(ReportToJson(Simulate(path, TestConfig(), 2, 0, true)), ReportToJson(one)) << "two threads";
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomProgramsTest, ::testing::Range<uint64_t>(1, 7));

// The watchdog at its most impatient.
Config Impatient() { return TestConfig({{"-gpgpu_sm89_deadlock_cycles", "10000"}}); }

RunReport RunScript(uint32_t ctas, uint32_t warps, const std::function<WarpScript(uint32_t)>& script,
                    const Config& config = Impatient()) {
  KernelScript kernel;
  kernel.info.grid = {ctas, 1, 1};
  kernel.info.block = {32 * warps, 1, 1};
  kernel.warp = [&](uint32_t, uint32_t w) { return script(w); };
  return Simulate(WriteTrace({kernel}), config);
}

TEST(Watchdog, LetsFencesAndSleepersBe) {
  const RunReport report = RunScript(1, 2, [](uint32_t warp) {
    WarpScript s;
    if (warp == 0) return s.Op("NANOSLEEP", {}, {}, ~LaneMask{0}, 1'000'000).Op("BAR.SYNC").Op("EXIT");
    for (int i = 0; i < 20; ++i) s.Op("MEMBAR.SC.SYS");
    return s.At(0x1000).Op("BAR.SYNC").Op("EXIT");
  });
  EXPECT_EQ(report.status, RunStatus::kComplete) << report.status_detail;
  EXPECT_GT(report.totals.sm.stall_barrier, 2'000'000u);
}

TEST(Watchdog, LetsLongQueuesBe) {
  // 128 x 8 x 8 reductions of 32 lanes on one address: some 340,000 cycles in which nobody issues.
  const RunReport report = RunScript(128, 8, [](uint32_t) {
    WarpScript s;
    for (int i = 0; i < 8; ++i) s.Mem("RED.E.ADD", {}, {2, 4}, kGlobal, 0);
    return s.Op("MEMBAR.SC.GPU").Op("FADD", {5}, {5}).Op("EXIT");
  });
  EXPECT_EQ(report.status, RunStatus::kComplete) << report.status_detail.substr(0, 2000);
  EXPECT_GT(report.total_cycles, 100'000u);
}

TEST(Watchdog, FindsABarrierThatNotAllReachAndShowsWhatIsThere) {
  const RunReport report = RunScript(3, 4, [](uint32_t warp) {
    WarpScript s;
    if (warp == 3) return s.At(0x100).Op("EXIT");
    s.Mem("LDG.E", {4}, {2}, kGlobal, 4);
    // Four warps shall come, three do; the fourth has ended.
    return s.Op("BAR.SYNC", {}, {}, ~LaneMask{0}, 128).Op("FADD", {5}, {4}).Op("EXIT");
  });
  ASSERT_EQ(report.status, RunStatus::kDeadlock);
  const std::string& text = report.status_detail;
  for (const char* part : {"0 of 3 CTAs done", "warp slot", "in state barrier", "barrier 0 has 3 of 4 warps",
                           "counters", "memory pipeline:", "memory side:"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
  }
}

}  // namespace
}  // namespace sm89
