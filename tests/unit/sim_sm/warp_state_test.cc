// Where the cycles of resident warps and the issue slots go: each state counted exactly on a hand-made case;
// sums at every cycle; the same whatever the windows.
#include <gtest/gtest.h>

#include <initializer_list>
#include <random>

#include "tests/unit/sim_sm/sm_fixture.h"

namespace sm89 {
namespace {

using namespace testing;  // NOLINT: the fixture is the tests' language

using Cycles = std::vector<Cycle>;
using States = std::initializer_list<std::pair<WarpState, uint64_t>>;

uint64_t SumOfStates(const SmStats& stats) {
  uint64_t sum = 0;
  for (uint64_t SmStats::*counter : kWarpStateCounters) sum += stats.*counter;
  return sum;
}

void ExpectInvariants(const SmStats& stats, Cycle now) {
  ASSERT_EQ(SumOfStates(stats), stats.resident_warp_cycles) << "cycle " << now;
  ASSERT_EQ(stats.warp_instructions + stats.issue_slots_stalled + stats.issue_slots_empty, stats.issue_slots)
      << "cycle " << now;
  ASSERT_EQ(stats.stall_selected, stats.warp_instructions) << "cycle " << now;
}

// Exactly these states, no others; the profile by instruction has the same sums.
void ExpectStates(const SmLab& lab, States expected) {
  const SmStats stats = lab.Stats();
  SmStats wanted;
  for (const auto& [state, cycles] : expected) wanted.*CounterOf(state) = cycles;
  for (int s = 0; s < kNumWarpStates; ++s) {
    const auto state = static_cast<WarpState>(s);
    EXPECT_EQ(stats.*CounterOf(state), wanted.*CounterOf(state)) << Name(state);
    uint64_t by_pc = 0;
    for (const PcCounters& row : lab.profile()) by_pc += row.cycles[s];
    EXPECT_EQ(by_pc, wanted.*CounterOf(state)) << Name(state) << " by instruction";
  }
  ExpectInvariants(stats, lab.now());
}

// One warp, or several of one sub-core, to their end.
void ExpectStatesOf(const std::vector<Program>& programs, States expected,
                    const GpuConfig& config = LabConfig()) {
  SmLab lab(config);
  lab.LaunchInOneSubCore(programs);
  lab.Run();
  // Absent warps between them are resident for no cycle.
  ExpectStates(lab, expected);
}

// Every program begins with two cycles of fetch and decode.
constexpr std::pair<WarpState, uint64_t> kStart{WarpState::kNoInstruction, 2};

TEST(WarpStates, Wait) {
  ExpectStatesOf({{Nop().Stall(5), Nop().Yield(), Nop()}},
                 {kStart, {WarpState::kSelected, 3}, {WarpState::kWait, 4 + 1}});
}

TEST(WarpStates, NotSelected) {
  // The older warp is ready from cycle 2 on and issues at 5.
  ExpectStatesOf({{Nop()}, Repeat(Nop(), 3)},
                 {{WarpState::kNoInstruction, 4}, {WarpState::kSelected, 4}, {WarpState::kNotSelected, 3}});
}

TEST(WarpStates, ShortScoreboard) {
  // Issue at 2, then one cycle of stall, then the counter until 2 + 20.
  ExpectStatesOf(
      {{Variable(Pipe::kSfu, 20, 8).Write(0).Stall(2), Nop().Wait(1)}},
      {kStart, {WarpState::kSelected, 2}, {WarpState::kWait, 1}, {WarpState::kShortScoreboard, 18}});
}

TEST(WarpStates, LongScoreboard) {
  SmLab lab;
  lab.ReplyAt(kGlobal, 400);
  lab.Launch({{Ldg().Write(0).Stall(2), Nop().Wait(1)}});
  lab.Run();
  ExpectStates(
      lab, {kStart, {WarpState::kSelected, 2}, {WarpState::kWait, 1}, {WarpState::kLongScoreboard, 412 - 4}});
}

TEST(WarpStates, AWaitForBothKindsIsCountedAsThatOfTheLowestCounterStillRaised) {
  SmLab lab;
  lab.ReplyAt(kGlobal, 400);
  lab.Launch({{Variable(Pipe::kSfu, 20, 8).Write(0), Ldg().Write(1).Stall(2), Nop().Wait(3)}});
  lab.Run();
  const SmStats stats = lab.Stats();
  EXPECT_EQ(stats.stall_short_scoreboard, 22u - 5) << "until the special function's result";
  EXPECT_EQ(stats.stall_long_scoreboard, 412u - 22);
}

TEST(WarpStates, MathPipeThrottle) {
  ExpectStatesOf({Repeat(Int(), 3)}, {kStart, {WarpState::kSelected, 3}, {WarpState::kMathPipeThrottle, 2}});
  ExpectStatesOf({{Variable(Pipe::kSfu, 20, 8), Variable(Pipe::kSfu, 20, 8)}},
                 {kStart, {WarpState::kSelected, 2}, {WarpState::kMathPipeThrottle, 7}});
}

TEST(WarpStates, TexThrottle) {
  Inst tex = Variable(Pipe::kTexture, 200, 8);
  tex.code.unit = ExecUnit::kTexture;
  ExpectStatesOf({{tex, tex}}, {kStart, {WarpState::kSelected, 2}, {WarpState::kTexThrottle, 7}});
}

TEST(WarpStates, MioThrottleAndLgThrottle) {
  // Shared loads: five, then the sixth waits from 7 until the first one's sources are read, at 2 + 9.
  ExpectStatesOf({Repeat(Lds(), 6)}, {kStart, {WarpState::kSelected, 6}, {WarpState::kMioThrottle, 11 - 7}});
  SmLab lab;
  lab.ReplyAt(kGlobal, 400);
  lab.Launch({Repeat(Ldg(), 6)});
  lab.Run();
  ExpectStates(
      lab,
      {kStart, {WarpState::kSelected, 6}, {WarpState::kLgThrottle, 13 - 7}, {WarpState::kDrain, 400 - 14}});
}

TEST(WarpStates, Dispatch) {
  // Two bubbles of the register file behind the second FFMA with three operands of one bank.
  ExpectStatesOf({Repeat(Fp32().Reads(0, 2, 4), 3)},
                 {kStart, {WarpState::kSelected, 3}, {WarpState::kDispatch, 2}});
}

TEST(WarpStates, ImcMiss) {
  ExpectStatesOf({{Nop(), Fp32().Constant(0)}},
                 {kStart, {WarpState::kSelected, 2}, {WarpState::kImcMiss, 79}});
}

TEST(WarpStates, Barrier) {
  // Two arrivals in cycles 2 and 3: open at 2 + 4 + 12 for both, the younger warp goes first.
  ExpectStatesOf({{Barrier(), Nop()}, {Barrier(), Nop()}}, {{WarpState::kNoInstruction, 4},
                                                            {WarpState::kSelected, 4},
                                                            {WarpState::kNotSelected, 2},
                                                            {WarpState::kBarrier, 15 + 14}});
}

TEST(WarpStates, Membar) {
  ExpectStatesOf({{Membar(Scope::kCta), Nop()}},
                 {kStart, {WarpState::kSelected, 2}, {WarpState::kMembar, 52}});
  SmLab lab;
  lab.ReplyAt(kGlobal, 900);
  lab.Launch({{Stg(), Membar(Scope::kGpu), Nop()}});
  lab.Run();
  ExpectStates(lab, {kStart, {WarpState::kSelected, 3}, {WarpState::kMembar, 900 - 4}});
}

TEST(WarpStates, Sleeping) {
  GpuConfig config = LabConfig();
  config.clocks.core_khz = 1'000'000;
  ExpectStatesOf({{Nanosleep(500), Nop()}}, {kStart, {WarpState::kSelected, 2}, {WarpState::kSleeping, 499}},
                 config);
}

TEST(WarpStates, BranchResolving) {
  ExpectStatesOf({{Nop(), Nop().At(512)}},
                 {kStart, {WarpState::kSelected, 2}, {WarpState::kBranchResolving, 9}});
  Inst bsync = Control(ControlOp::kConvergence);
  bsync.code.reconverges = true;
  ExpectStatesOf({{bsync, Nop()}}, {kStart,
                                    {WarpState::kSelected, 2},
                                    {WarpState::kBranchResolving, LabConfig().front.convergence_cycles - 1}});
}

TEST(WarpStates, NoInstruction) {
  GpuConfig config = ModelConfig();
  config.front.stream_buffer_lines = 0;
  // 318 cycles from the L2 and 2 of decode for each of two lines; the second is asked for behind the issue of
  // the sixth instruction, two cycles before the eighth's.
  ExpectStatesOf({Repeat(Nop(), 9)}, {{WarpState::kNoInstruction, 320 + 318}, {WarpState::kSelected, 9}},
                 config);
}

TEST(WarpStates, Drain) {
  SmLab lab;
  lab.ReplyAt(kGlobal, 700);
  lab.Launch({{Stg()}});
  lab.Run();
  ExpectStates(lab, {kStart, {WarpState::kSelected, 1}, {WarpState::kDrain, 700 - 3}});
}

TEST(WarpStates, WaitingTimeBelongsToTheInstructionThatComesNext) {
  SmLab lab;
  lab.Launch({{Nop().Stall(5), Variable(Pipe::kSfu, 20, 8).Write(0).Stall(2), Nop().Wait(1)}});
  lab.Run();
  const PcProfile& profile = lab.profile();
  const auto at = [&](size_t inst, WarpState state) {
    return profile[inst].cycles[static_cast<size_t>(state)];
  };
  EXPECT_EQ(at(0, WarpState::kNoInstruction), 2u);
  EXPECT_EQ(at(1, WarpState::kWait), 4u);
  EXPECT_EQ(at(2, WarpState::kWait), 1u);
  EXPECT_EQ(at(2, WarpState::kShortScoreboard), 18u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(at(i, WarpState::kSelected), 1u);
    EXPECT_EQ(profile[i].issued, 1u);
    EXPECT_EQ(profile[i].threads, 32u);
  }
}

TEST(IssueSlots, StalledWhileAWarpIsResidentElseEmpty) {
  SmLab lab;
  lab.Launch({{Nop().Stall(10), Nop()}, {Nop()}});
  lab.Run();
  const SmStats stats = lab.Stats();
  EXPECT_EQ(stats.active_cycles, 13u);
  EXPECT_EQ(stats.issue_slots, 4u * 13);
  EXPECT_EQ(stats.issue_slots_stalled, 11u + 2) << "sub-core 0: cycles 0 .. 12 but two; sub-core 1: 0 and 1";
  EXPECT_EQ(stats.issue_slots_empty, 10u + 2 * 13);
}

// Random instructions of every kind, none that can hang.
class RandomStreams {
 public:
  explicit RandomStreams(uint64_t seed) : rng_(seed) {}

  // Warps of a CTA: the same number of barriers in each.
  std::vector<Program> Cta(uint32_t warps, uint32_t length, bool global) {
    std::vector<Program> programs(warps);
    for (Program& program : programs) {
      for (uint32_t part = 0; part < 3; ++part) {
        for (uint32_t i = 0; i < length; ++i) program.push_back(Any(global));
        program.push_back(Barrier(part % 2));
      }
      for (Inst& inst : program) inst.Clock();
      if (Pick(3) == 0) program[length / 2].At(128 * Pick(64));
    }
    return programs;
  }

 private:
  uint32_t Pick(uint32_t n) { return static_cast<uint32_t>(rng_() % n); }

  Inst Any(bool global) {
    Inst inst = Kind(global);
    inst.Stall(Pick(4) == 0 ? Pick(16) : 1 + Pick(2));
    if (Pick(5) == 0) inst.Yield();
    if (Pick(4) == 0) inst.Wait(Pick(64));
    inst.Reuse(Pick(8));
    if (inst.code.path != IssuePath::kFixed && inst.code.path != IssuePath::kNone) {
      if (Pick(2) == 0) inst.Write(Pick(6)).Result(Pick(64));
      if (Pick(3) == 0) inst.Read(Pick(6));
    }
    return inst;
  }
  Inst Kind(bool global) {
    switch (Pick(global ? 16 : 12)) {
      case 0:
        return Int().Reads(static_cast<int>(Pick(8)), static_cast<int>(Pick(8)));
      case 1:
        return Imad().Reads(static_cast<int>(Pick(8)), static_cast<int>(Pick(8)), static_cast<int>(Pick(8)));
      case 2:
        return Variable(Pipe::kSfu, 18, 8);
      case 3:
        return Variable(Pipe::kFp64, 54, 16);
      case 4:
        return Fixed(Pipe::kTensor, 33, 32).Reads(0, 4, 8, 4);
      case 5:
        return Lds(4u << Pick(3));
      case 6:
        return Sts(4u << Pick(3));
      case 7:
        return Depbar(Pick(6), Pick(3), Pick(64));
      case 8:
        return Membar(Pick(2) == 0 ? Scope::kCta : Scope::kGpu);
      case 9:
        return Fp32().Constant(Pick(64) * 64);
      case 10:
        return Nanosleep(Pick(50));
      case 12:
        return Ldg(4u << Pick(3), kGlobal + Pick(64) * 128);
      case 13:
        return Stg(4u << Pick(3), kGlobal + Pick(64) * 128);
      case 14:
        return Ldgsts(16, kGlobal + Pick(64) * 128);
      case 15:
        return Ldgdepbar(Pick(6));
      default:
        return Fp32().Reads(static_cast<int>(Pick(8)), static_cast<int>(Pick(8)), static_cast<int>(Pick(8)));
    }
  }

  std::mt19937_64 rng_;
};

void LaunchRandom(SmLab* lab, uint64_t seed, bool global) {
  RandomStreams streams(seed);
  lab->Launch(streams.Cta(7, 12, global), 0);
  lab->Launch(streams.Cta(4, 20, global), 40);
  lab->Launch(streams.Cta(9, 8, global), 41);
}

// Every setting of the core that changes its course, at random within what is allowed.
GpuConfig RandomConfig(uint64_t seed) {
  std::mt19937_64 rng(seed * 7919);
  const auto pick = [&](uint32_t first, uint32_t last) {
    return first + static_cast<uint32_t>(rng() % (last - first + 1));
  };
  GpuConfig config;
  config.sm.scheduler = pick(0, 2);
  config.l1.cache.mshr_entries = pick(1, 12);
  config.l1.queue_entries = pick(1, 16);
  config.l1.request_interval_cycles = pick(1, 3);
  config.l1.barrier_arrival_cycles = pick(0, 4);
  config.front.ibuffer_entries = pick(1, 16);
  config.front.stream_buffer_lines = pick(0, 16);
  config.front.l0_kib = pick(1, 2) * 4;
  config.front.perfect_icache = pick(0, 3) == 0;
  config.constant.perfect_l0 = pick(0, 3) == 0;
  config.constant.miss_switch_cycles = pick(0, 20);
  config.registers.banks = 1u << pick(0, 2);
  config.registers.read_ports = pick(0, 8);
  config.registers.reuse_cache = pick(0, 1) == 0;
  config.exec.fp64_shared = pick(0, 1) == 0;
  config.tlb.entries = pick(0, 2);
  return config;
}

// The profile by instruction and the states that warps are in now have the sums of the statistics.
void ExpectProfile(const SmLab& lab) {
  PcProfile profile = lab.profile();
  lab.sm().AddOpenStates(0, lab.now(), &profile);
  PcCounters sum;
  for (const PcCounters& row : profile) {
    sum.issued += row.issued;
    for (int s = 0; s < kNumWarpStates; ++s) sum.cycles[s] += row.cycles[s];
  }
  const SmStats stats = lab.Stats();
  ASSERT_EQ(sum.issued, stats.warp_instructions) << "cycle " << lab.now();
  for (int s = 0; s < kNumWarpStates; ++s) {
    ASSERT_EQ(sum.cycles[s], stats.*kWarpStateCounters[s])
        << Name(static_cast<WarpState>(s)) << " cycle " << lab.now();
  }
}

class RandomTest : public ::testing::TestWithParam<uint64_t> {};

TEST_P(RandomTest, SumsHoldAtEveryCycle) {
  SmLab lab(RandomConfig(GetParam()));
  LaunchRandom(&lab, GetParam(), true);
  while (!lab.sm().idle()) {
    ASSERT_LT(lab.now(), 1'000'000u) << lab.sm().DescribeWarps(lab.now(), 20);
    lab.Run(lab.now() + 1);
    ExpectInvariants(lab.Stats(), lab.now());
    if (lab.now() % 64 == 0) ExpectProfile(lab);
    if (HasFatalFailure()) return;
  }
  ExpectProfile(lab);
}

// Differences of the clock reads, which every instruction makes, in the order of issue.
std::vector<std::array<uint64_t, 3>> ClocksOf(uint64_t seed, Cycle window, bool global, SmStats* stats) {
  SmLab lab(RandomConfig(seed));
  LaunchRandom(&lab, seed, global);
  lab.Run(10'000'000, window);
  EXPECT_TRUE(lab.sm().idle());
  std::vector<std::array<uint64_t, 3>> clocks;
  for (const ClockSample& s : lab.samples()) clocks.push_back({s.pc_first, s.pc_second, s.cycles});
  *stats = lab.Stats();
  for (const Cycle c : lab.finished()) clocks.push_back({0, 0, c});
  return clocks;
}

TEST_P(RandomTest, WindowsDoNotShow) {
  SmStats one;
  const auto clocks = ClocksOf(GetParam(), 1, true, &one);
  EXPECT_GT(clocks.size(), 500u);
  for (const Cycle window : {7, 8, 16, 32}) {
    SmStats stats;
    EXPECT_EQ(ClocksOf(GetParam(), window, true, &stats), clocks) << "windows of " << window;
    for (uint64_t SmStats::*counter : kWarpStateCounters) EXPECT_EQ(stats.*counter, one.*counter);
  }
}

TEST_P(RandomTest, NorDoesARunInOneGo) {
  SmStats one;
  SmStats all;
  EXPECT_EQ(ClocksOf(GetParam(), 1, false, &one), ClocksOf(GetParam(), 1'000'000, false, &all));
  EXPECT_EQ(one.resident_warp_cycles, all.resident_warp_cycles);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTest, ::testing::Range<uint64_t>(1, 25));

TEST(DescribeWarps, NamesWhoWaitsForWhat) {
  GpuConfig config = LabConfig();
  config.l1.cache.mshr_entries = 1;
  SmLab lab(config);
  lab.set_reply_latency(SmLab::kNoReply);
  const Program stores = {Stg(4, kGlobal), Stg(4, kGlobal + 128), Stg(4, kGlobal + 256)};
  lab.Launch({{Ldg()},
              {Ldg(4, kGlobal + 4096)},
              stores,
              {Variable(Pipe::kSfu, 18, 5000)},
              {},
              {},
              {},
              {Variable(Pipe::kSfu, 18, 5000)}});
  lab.Launch({{Nop()}}, 9000);
  lab.Run(100);
  const std::string text = lab.sm().DescribeWarps(lab.now(), 20);
  EXPECT_NE(text.find("SM 0 waits for MSHRs: warp slots 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("SM 0 waits for write buffers: warp slots 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("SM 0 sub-core 3 special function unit refused: warp slots 3\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("SM 0 launch 1 CTA (0,0,0) begins at cycle 9000\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace sm89
