// What an observer sees and that looking changes nothing.
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "sim/gpu/gpu.h"
#include "sim/sm/warp_view.h"
#include "tests/support/trace_builder.h"

namespace sm89 {
namespace {

using testing::KernelScript;
using testing::Simulate;
using testing::TestConfig;
using testing::WarpScript;
using testing::WriteTrace;

// Loads, shared memory, a barrier and tensor instructions in more CTAs than the SMs take at once.
std::string MixedTrace() {
  KernelScript kernel;
  kernel.info.grid = {600, 1, 1};
  kernel.info.block = {512, 1, 1};
  kernel.info.shmem_bytes = 30'000;
  kernel.warp = [](uint32_t c, uint32_t w) {
    WarpScript s;
    for (uint32_t i = 0; i < 1 + (c + w) % 3; ++i) {
      s.Mem("LDG.E", {4}, {2}, 0x7f0000000000 + 4096 * (c * 16 + w) + 128 * i, 4);
      s.Op("FFMA", {5}, {4, 4, 5}).Mem("STS", {}, {6, 5}, 4096 * (w % 4), 8);
    }
    return s.Op("BAR.SYNC")
        .Op("HMMA.16816.F32", {8}, {4, 6, 8})
        .Mem("STG.E", {}, {2, 8}, 0x7f1000000000, 4)
        .Op("EXIT");
  };
  KernelScript second = kernel;
  second.info.grid = {40, 1, 1};
  return WriteTrace({kernel, second});
}

class Counter final : public IssueObserver {
 public:
  void Issued(const IssuedInst& issued) override {
    ++issues;
    EXPECT_GE(issued.cycle, last_cycle) << "in the order of time";
    last_cycle = issued.cycle;
    uint64_t& next = next_[{issued.kernel, issued.cta.x, issued.warp}];
    EXPECT_EQ(issued.number, next) << "each instruction of a warp once, in order";
    next = issued.number + 1;
    ASSERT_NE(issued.code, nullptr);
    pause = pause_every != 0 && issues % pause_every == 0;
  }
  bool PauseAfter(Cycle cycle) override {
    EXPECT_EQ(gpu == nullptr ? cycle + 1 : gpu->now(), cycle + 1);
    return std::exchange(pause, false);
  }

  const Gpu* gpu = nullptr;
  uint64_t pause_every = 0;
  uint64_t issues = 0;
  Cycle last_cycle = 0;
  bool pause = false;

 private:
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint64_t> next_;
};

struct Observed {
  RunReport report;
  uint64_t calls = 0;
};

Observed Observe(const std::string& path, const Config& config, Counter* counter, uint64_t slice) {
  Observed observed;
  SimulatorOptions options;
  options.config = config;
  options.trace_path = path;
  options.observer = counter;
  options.threads = 4;
  const auto simulator = Simulator::Create(std::move(options));
  EXPECT_TRUE(simulator.ok()) << simulator.status().message();
  if (!simulator.ok()) return observed;
  counter->gpu = &(*simulator)->gpu();
  for (bool done = false; !done; ++observed.calls) {
    const auto progress = (*simulator)->Advance(slice);
    EXPECT_TRUE(progress.ok()) << progress.status().message();
    done = !progress.ok() || progress->done;
  }
  observed.report = (*simulator)->Report();
  return observed;
}

TEST(IssueObserverTest, ChangesNothingHoweverOftenItPauses) {
  const std::string path = MixedTrace();
  for (const char* preset : {"RTX4090", "RTX4090_SER"}) {
    const auto config = LoadConfig(preset, {}, {});
    ASSERT_TRUE(config.ok());
    const std::string expected = ReportToJson(Simulate(path, *config));
    for (const uint64_t pause_every : {0u, 1u, 1009u}) {
      Counter counter;
      counter.pause_every = pause_every;
      const Observed observed = Observe(path, *config, &counter, 100'000);
      EXPECT_EQ(ReportToJson(observed.report), expected) << preset << " pausing every " << pause_every;
      EXPECT_EQ(counter.issues, observed.report.totals.sm.warp_instructions);
      if (pause_every == 1) {
        EXPECT_GT(observed.calls, observed.report.total_cycles / 100'000 + 100);
      }
    }
    Counter counter;
    EXPECT_EQ(ReportToJson(Observe(path, *config, &counter, 7).report), expected) << "7 cycles a call";
  }
}

// With a window of 32 cycles a call ends inside it, after exactly so many cycles.
TEST(IssueObserverTest, CallsEndInsideAWindow) {
  Counter counter;
  SimulatorOptions options;
  options.config = TestConfig();
  ASSERT_GT(options.config.gpu.run.window_cycles, 1u);
  options.trace_path = MixedTrace();
  options.observer = &counter;
  const auto simulator = Simulator::Create(std::move(options));
  ASSERT_TRUE(simulator.ok());
  const Gpu& gpu = (*simulator)->gpu();
  while (counter.issues == 0) ASSERT_TRUE((*simulator)->Advance(1).ok());
  for (int i = 0; i < 200; ++i) {
    const Cycle before = gpu.now();
    ASSERT_TRUE((*simulator)->Advance(1).ok());
    EXPECT_EQ(gpu.now(), before + 1) << "warps are at work: nothing is skipped";
  }
}

// Warps are shown in the state that the statistics count.
TEST(IssueObserverTest, ShownStatesAddUpToTheStatistics) {
  Counter counter;
  KernelScript kernel;
  constexpr uint32_t kWarps = 16;  // four a sub-core
  kernel.info.block = {kWarps * 32, 1, 1};
  kernel.warp = [](uint32_t, uint32_t w) {
    WarpScript s;
    for (uint32_t i = 0; i < 6; ++i) {
      s.Mem("LDG.E", {4}, {2}, 0x7f0000000000 + 4096 * (w * 6 + i), 4).Op("MUFU.RCP", {5}, {4});
      s.Op("DFMA", {6}, {6, 6, 6}).Mem("LDS", {8}, {9}, 0, 128).Op("IADD3", {9}, {8, 8, 8});
    }
    for (int i = 0; i < 12; ++i) s.Mem("STS", {}, {9, 8}, 0, 128);
    // Sources of one bank: its ports delay what follows.
    for (int i = 0; i < 24; ++i) s.Op("FFMA", {12}, {14 + i % 8 * 2, 30 + i % 6 * 2, 42 + i % 10 * 2});
    return s.Op("BAR.SYNC").Op("EXIT");
  };
  SimulatorOptions options;
  options.config = TestConfig();
  options.trace_path = WriteTrace({kernel});
  options.observer = &counter;
  const auto simulator = Simulator::Create(std::move(options));
  ASSERT_TRUE(simulator.ok());
  const Gpu& gpu = (*simulator)->gpu();
  std::array<uint64_t, kNumWarpStates> shown{};
  uint64_t issued = 0;
  for (bool done = false; !done;) {
    // The states at the begin of a cycle; a warp that then issues in it was selected instead.
    std::array<uint64_t, kWarps> before{};
    struct Shown {
      WarpState state, then;
      Cycle until = 0;  // then the other, if the GPU skips so far
    };
    std::array<std::optional<Shown>, kWarps> states;
    for (uint32_t slot = 0; slot < kWarps; ++slot) {
      const auto view = gpu.sm(0).View(slot, gpu.now());
      if (!view || gpu.now() < view->since) continue;
      before[slot] = view->issued;
      const Cycle until = std::max(view->until, gpu.now() + 1);
      states[slot] = {view->state, until == kNever ? view->state : gpu.sm(0).View(slot, until)->state, until};
    }
    const Cycle now = gpu.now();
    const auto progress = (*simulator)->Advance(1);
    ASSERT_TRUE(progress.ok());
    done = progress->done;
    for (uint32_t slot = 0; slot < kWarps; ++slot) {
      const auto view = gpu.sm(0).View(slot, gpu.now());
      if (!states[slot] || !view) continue;
      const bool issues = view->issued != before[slot];
      issued += issues ? 1 : 0;
      if (issues) continue;
      // More than one cycle: in what was skipped nothing happened but that the fixed part of a wait ended.
      const Cycle border = std::clamp(states[slot]->until, now, gpu.now());
      shown[static_cast<size_t>(states[slot]->state)] += border - now;
      shown[static_cast<size_t>(states[slot]->then)] += gpu.now() - border;
    }
  }
  const RunReport report = (*simulator)->Report();
  EXPECT_GT(issued, 100u);
  EXPECT_LE(issued, report.totals.sm.warp_instructions);
  for (const WarpState state : {WarpState::kLongScoreboard, WarpState::kShortScoreboard, WarpState::kWait,
                                WarpState::kMathPipeThrottle, WarpState::kBarrier, WarpState::kNoInstruction,
                                WarpState::kDispatch, WarpState::kNotSelected}) {
    const uint64_t counted = report.totals.sm.*CounterOf(state);
    const uint64_t seen = shown[static_cast<size_t>(state)];
    EXPECT_GT(counted, 50u) << Name(state) << " does not occur: nothing is compared";
    // An event in a cycle may end a state at its begin.
    EXPECT_NEAR(static_cast<double>(seen), static_cast<double>(counted),
                8 + 0.1 * static_cast<double>(counted))
        << Name(state);
  }
}

}  // namespace
}  // namespace sm89
