// Registers and predicates of executed code.
#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <map>

#include "sim/debug/history.h"
#include "sim/report/run_report.h"
#include "tests/unit/sim_debug/debug_run.h"

namespace sm89 {
namespace {

using debug::CtaHistory;
using debug::Histories;
using testing::Answer;
using testing::Debug;
using testing::Find;
using testing::KernelArgs;
using testing::Times;
using testing::Transcript;

std::shared_ptr<Emulation> ExampleEmulation(const std::string& kernel) {
  const auto program = CollectProgram({.cubin = testing::ExampleKernelPath(kernel + ".sm_89.cubin"),
                                       .cubin_folder = "",
                                       .launches = testing::ExampleKernelPath(kernel + ".json"),
                                       .cases = {}});
  EXPECT_TRUE(program.ok());
  auto emulation = Emulation::Create(*program, {});
  EXPECT_TRUE(emulation.ok());
  return *std::move(emulation);
}

// What an emulator's registers were behind some instructions, seen directly.
class Seen : public emu::TraceSink {
 public:
  explicit Seen(const emu::Emulator& emulator) : emulator_(emulator) {}
  void BeginCta(uint64_t) override {}
  void EndCta(uint64_t) override {}
  void Record(uint32_t warp, uint32_t, LaneMask, std::span<const uint64_t>) override {
    const uint64_t number = counts[warp]++;
    if (number % 17 != 3) return;
    const emu::RegisterView view = emulator_.registers(warp);
    Sample sample{warp, number + 1, {}, {}, {}};
    sample.general.assign(view.general.begin(), view.general.end());
    sample.uniform.assign(view.uniform.begin(), view.uniform.end());
    sample.predicates.assign(view.predicates.begin(), view.predicates.end());
    samples.push_back(std::move(sample));
  }

  struct Sample {
    uint32_t warp;
    uint64_t instructions;
    std::vector<uint32_t> general, uniform, predicates;
  };
  std::map<uint32_t, uint64_t> counts;
  std::vector<Sample> samples;

 private:
  const emu::Emulator& emulator_;
};

TEST(CtaHistoryTest, HasWhatTheEmulatorHad) {
  for (const char* kernel : {"reduction", "divergent", "tensor_gemm"}) {
    const auto emulation = ExampleEmulation(kernel);
    const LoadedProgram& program = emulation->program();
    auto emulator = emu::Emulator::Create(*program.modules[0], program.launches[0], {});
    ASSERT_TRUE(emulator.ok());
    Seen seen(**emulator);
    for (uint64_t cta = 0; cta < 2; ++cta) ASSERT_TRUE((*emulator)->RunCta(cta, nullptr).ok());
    ASSERT_TRUE((*emulator)->RunCta(2, &seen).ok());
    Histories histories(*emulation, {}, uint64_t{1} << 30);
    const auto history = histories.Of(0, 2);
    ASSERT_TRUE(history.ok()) << history.status().message();
    ASSERT_GT(seen.samples.size(), 10u);
    for (const auto& [warp, count] : seen.counts) EXPECT_EQ((*history)->num_instructions(warp), count);
    for (const Seen::Sample& sample : seen.samples) {
      for (uint32_t r = 0; r < (*history)->num_registers(); ++r) {
        const auto value = (*history)->At(sample.warp, sample.instructions, RegFile::kGeneral, r);
        ASSERT_TRUE(std::equal(value.lanes.begin(), value.lanes.end(), sample.general.begin() + r * 32))
            << kernel << " warp " << sample.warp << " R" << r << " behind " << sample.instructions;
      }
      for (uint32_t r = 0; r < 63; ++r) {
        EXPECT_EQ((*history)->At(sample.warp, sample.instructions, RegFile::kUniform, r).lanes[0],
                  sample.uniform[r]);
      }
      for (uint32_t p = 0; p < 7; ++p) {
        const auto value = (*history)->At(sample.warp, sample.instructions, RegFile::kPredicate, p);
        for (uint32_t lane = 0; lane < 32; ++lane)
          EXPECT_EQ(value.lanes[lane], sample.predicates[p] >> lane & 1);
      }
    }
  }
}

// Earlier CTAs may be asked for after later ones, with the same values.
TEST(HistoriesTest, GiveTheSameInAnyOrder) {
  const auto emulation = ExampleEmulation("histogram");
  Histories forward(*emulation, {}, uint64_t{1} << 30);
  Histories backward(*emulation, {}, uint64_t{1} << 30);
  std::map<uint64_t, std::vector<uint64_t>> first;
  for (const uint64_t cta : {0, 1, 5}) {
    const auto history = forward.Of(0, cta);
    ASSERT_TRUE(history.ok());
    first[cta] = (*history)->Changes(3, RegFile::kGeneral, 0, ~LaneMask{0});
    EXPECT_FALSE(first[cta].empty());
  }
  for (const uint64_t cta : {5, 1, 0, 5}) {
    const auto history = backward.Of(0, cta);
    ASSERT_TRUE(history.ok());
    EXPECT_EQ((*history)->Changes(3, RegFile::kGeneral, 0, ~LaneMask{0}), first[cta]);
  }
}

float LaneOf(const std::string& text, const std::string& reg) {
  const std::string hex = Find(text, "\n" + reg + " +0x([0-9a-f]+)\n");
  return std::bit_cast<float>(static_cast<uint32_t>(std::stoul(hex.empty() ? "0" : hex, nullptr, 16)));
}

// c = a + b, lane by lane, whatever registers the compiler chose.
TEST(RegisterTest, ShowTheOperandsOfAnAddition) {
  const std::string text = Transcript(
      KernelArgs("vector_add"), "break op FADD cta 3 warp 2\nc\nregs lane 7\nregs before lane 7\nregs f32\n");
  const std::string inst = Find(text, "issues 0x[0-9a-f]+ (FADD [^\n]*) for lanes");
  const std::string d = Find(inst, "FADD (R[0-9]+),");
  const std::string a = Find(inst, ", (R[0-9]+),");
  const std::string b = Find(inst, ", (R[0-9]+)$");
  const std::string before = text.substr(text.find("regs before"));
  const std::string after =
      text.substr(text.find("regs lane 7"), text.find("regs before") - text.find("regs lane 7"));
  EXPECT_EQ(LaneOf(after, d), LaneOf(before, a) + LaneOf(before, b)) << text;
  EXPECT_NE(LaneOf(after, d), 0.0f);
  EXPECT_EQ(Find(after, "behind ([0-9]+) of"),
            std::to_string(std::stoul(Find(before, "behind ([0-9]+) of")) + 1));
}

TEST(RegisterTest, ShowThreadNumbersInAllLanes) {
  const std::string text = Transcript(KernelArgs("vector_add"), "break op S2R cta 1 warp 2\nc\nregs\n");
  const std::string special = Find(text, "issues 0x[0-9a-f]+ S2R R[0-9]+, (SR_[A-Z.]+)");
  EXPECT_TRUE(special == "SR_CTAID.X" || special == "SR_TID.X") << special;
  const std::string tids =
      Answer(KernelArgs("vector_add"), "break op IMAD cta 1 warp 2\nc\nc\nregs all lane 5\n");
  EXPECT_GE(Times(tids, "\nR"), 8u) << tids;
}

// The watch stops at every change, and nowhere else.
TEST(RegisterWatchTest, StopsAtEveryChange) {
  const std::vector<std::string> args = KernelArgs("divergent");
  const std::string start = "tbreak cta 2 warp 1\nc\nwatch P0\n";
  const std::string set = Answer(args, start);
  const size_t changes = std::stoul(Find(set, "  changed by ([0-9]+) instructions? of the warp"));
  ASSERT_GE(changes, 2u) << set;
  std::string script = start;
  for (size_t i = 0; i <= changes; ++i) script += "c\n";
  const std::string text = Transcript(args, script);
  EXPECT_EQ(Times(text, "\nwatch 2: P0 of kernel 1 CTA (2,0,0) warp 1\n  cycle "), changes) << text;
  EXPECT_EQ(Times(text, "  P0 lane "), changes) << text;
  EXPECT_EQ(Times(text, "the simulation has ended (complete)"), 1u) << text;
}

TEST(RegisterWatchTest, OfOneLaneStopsForThatLaneOnly) {
  const std::vector<std::string> args = KernelArgs("reduction");
  const auto changes = [&](const std::string& watch) {
    return std::stoul(Find(Answer(args, "tbreak cta 1 warp 0\nc\nwatch " + watch + "\n"),
                           "  changed by ([0-9]+) instructions? of the warp"));
  };
  EXPECT_LT(changes("R6 lane 9"), changes("R6"));
  EXPECT_GE(changes("R0"), 1u);
  const std::string text = Answer(args, "tbreak cta 1 warp 0\nc\nwatch R0 lane 3\nc\n");
  EXPECT_NE(text.find("\n  R0 lane 3 0x"), std::string::npos) << text;
  EXPECT_EQ(Times(text, " -> "), 1u) << text;
}

// A warp may be named before it begins.
TEST(RegisterWatchTest, OfANamedWarpStopsAsThatOfTheSelectedOne) {
  const std::string named = Transcript(KernelArgs("divergent"), "watch P0 lane 4 cta 2 warp 1\nc\nc\nwarp\n");
  EXPECT_NE(named.find("watch 1: P0 lane 4 of kernel 1 CTA (2,0,0) warp 1\n  changed by "), std::string::npos)
      << named;
  EXPECT_EQ(Times(named, "still to come"), 0u) << "it has not begun";
  const std::string selected =
      Transcript(KernelArgs("divergent"), "tbreak cta 2 warp 1\nc\nwatch P0 lane 4\nc\nc\nwarp\n");
  EXPECT_EQ(Times(selected, "still to come"), 1u);
  EXPECT_EQ(testing::LastAnswer(named), testing::LastAnswer(selected));
  const auto outcome = Debug(KernelArgs("divergent"), "watch P0 cta 2\n");
  EXPECT_NE(outcome.err.find("not one warp (watch = 'cta 2,0,0', expected cta and warp, and kernel"),
            std::string::npos)
      << outcome.err;
}

// All CTAs of a cooperative launch are executed together, for their registers too.
TEST(HistoriesTest, KnowCooperativeLaunches) {
  std::string launch = testing::ExampleKernelText("reduction.json");
  const size_t at = launch.find("\"compare\"");
  ASSERT_NE(at, std::string::npos);
  launch.insert(at, "\"cooperative\": true, ");
  const std::string file =
      ::testing::TempDir() + "/sm89_debug_cooperative_" + std::to_string(getpid()) + ".json";
  std::ofstream(file) << launch;
  std::vector<std::string> args = KernelArgs("reduction");
  const std::string script = "tbreak op FADD cta 7 warp 3\nc\nregs lane 3\nregs R0 lane 3 s32\n";
  const std::string one_by_one = Answer(args, script);
  args.back() = file;
  const std::string together = Answer(args, script);
  EXPECT_EQ(together, one_by_one);
  EXPECT_NE(together.find("\nR0 "), std::string::npos) << together;
}

// Values seen through a register watch are those that 'regs' shows.
TEST(RegisterWatchTest, ShowsOldAndNewValues) {
  const std::string text =
      Transcript(KernelArgs("histogram"),
                 "tbreak cta 0 warp 1\nc\nwatch R0 lane 9\nc\nregs R0 lane 9\nregs R0 lane 9 before\n");
  const std::string old_value = Find(text, "R0 lane 9 0x([0-9a-f]+) -> 0x");
  const std::string new_value = Find(text, "R0 lane 9 0x[0-9a-f]+ -> 0x([0-9a-f]+)");
  const std::string after = text.substr(text.find("(sm89) regs R0 lane 9\n"));
  EXPECT_EQ(std::stoul(Find(after, "\nR0 +0x([0-9a-f]+)\n"), nullptr, 16),
            std::stoul(new_value, nullptr, 16));
  const std::string before = text.substr(text.find("lane 9 before"));
  EXPECT_EQ(std::stoul(Find(before, "\nR0 +0x([0-9a-f]+)\n"), nullptr, 16),
            std::stoul(old_value, nullptr, 16));
}

TEST(SourceLineTest, StopsAtItsInstructions) {
  const std::string text =
      Transcript(KernelArgs("sgemm_tiled"), "tbreak line 14 cta 0 warp 0\nc\nlist 1\nlist 3\n");
  EXPECT_NE(text.find("temporary breakpoint 1: cta 0,0,0 warp 0 line 14\n  cycle "), std::string::npos)
      << text;
  EXPECT_NE(Find(text, "\n(\\* 0x[0-9a-f]+ [^\n]*; line 14)\n"), "") << "the issued one\n" << text;
}

TEST(PredicateTest, AreMasksOfLanes) {
  const std::string text = Answer(KernelArgs("reduction"), "break op BAR cta 0 warp 0\nc\npreds\n");
  EXPECT_NE(text.find("\nP0    lanes 0x"), std::string::npos) << text;
  EXPECT_NE(text.find("\nUP0 0  UP1 0  "), std::string::npos) << text;
  EXPECT_EQ(Times(text, "lanes 0x"), 7u);
}

TEST(BufferTest, ServeAsAddresses) {
  const std::string text = Transcript(KernelArgs("reduction"), "buffers\nwatch global total\nc\nc\n");
  EXPECT_NE(text.find("kernel 1  total  0x"), std::string::npos) << text;
  const std::string at = Find(text, "kernel 1  total  (0x[0-9a-f]+)");
  EXPECT_EQ(Times(text, "watch 1: global " + at + ", lanes 0x00000001\n"), 1u) << text;
  EXPECT_EQ(Times(text, "issues 0x"), 1u) << "one thread writes the total, once\n" << text;
}

// A name is that of the kernel in the place, of the selected warp's, else of the first: in no other one.
TEST(BufferTest, NamesBelongToOneKernel) {
  std::vector<std::string> args = testing::SuiteArgs();
  const std::string named = Answer(args, "watch global total kernel 5\n");
  EXPECT_NE(named.find("watch 1: global 0x"), std::string::npos) << named;
  EXPECT_NE(named.find(" kernel 5\n"), std::string::npos) << named;
  const auto unknown = Debug(args, "watch global total\n");
  EXPECT_NE(unknown.err.find("a buffer of kernel 1 as NAME"), std::string::npos) << unknown.err;
  const std::string buffers = Answer(args, "buffers kernel 5\n");
  EXPECT_EQ(buffers.find("kernel 5  "), 0u) << buffers;
  EXPECT_EQ(Times(buffers, "kernel "), Times(buffers, "\n")) << buffers;
  EXPECT_NE(buffers.find("  total  "), std::string::npos) << buffers;
  EXPECT_GT(Times(Answer(args, "buffers\n"), "\n"), Times(buffers, "\n")) << "of all launches";
  args.insert(args.end(), {"--kernels", "6,7"});
  const std::string text = Transcript(args, "watch global start read\nc\nc\n");
  EXPECT_NE(text.find("watch 1: global 0x"), std::string::npos);
  EXPECT_EQ(Times(text, ": kernel 7 CTA"), 0u) << text;
  EXPECT_GT(Times(text, ": kernel 6 CTA"), 0u) << text;
}

TEST(RegisterWatchTest, OfUniformRegistersHasOneValue) {
  const std::vector<std::string> args = KernelArgs("reduction");
  for (const char* watch : {"UR4 lane 3 cta 0 warp 0", "UP0 lane 3 cta 0 warp 0"}) {
    const auto outcome = Debug(args, std::string("watch ") + watch + "\n");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find("a uniform register is the same for all lanes (lane = '3', expected no lane"),
              std::string::npos)
        << outcome.err;
  }
  const std::string text = Transcript(args, "watch UR4 cta 0 warp 0\nc\nregs UR4\nregs UR4 before\n");
  const std::string old_value = Find(text, "\n  UR4 0x([0-9a-f]+) -> 0x");
  const std::string new_value = Find(text, "\n  UR4 0x[0-9a-f]+ -> 0x([0-9a-f]+)\n");
  const auto answers = testing::Answers(text);
  EXPECT_EQ(std::stoul(Find(answers[2], "\nUR4 +0x([0-9a-f]+)\n"), nullptr, 16),
            std::stoul(new_value, nullptr, 16));
  EXPECT_EQ(std::stoul(Find(answers[3], "\nUR4 +0x([0-9a-f]+)\n"), nullptr, 16),
            std::stoul(old_value, nullptr, 16));
  EXPECT_NE(old_value, new_value);
  const std::string bits = Answer(args, "tbreak cta 0 warp 0\nc\nregs UP0 f32\n");
  EXPECT_NE(bits.find("\nUP0   0\n"), std::string::npos) << bits;
}

// What is kept makes room while the next one is recorded.
TEST(HistoriesTest, TakeNoMoreThanAllowedAtAnyTime) {
  const auto emulation = ExampleEmulation("histogram");
  Histories alone(*emulation, {}, uint64_t{1} << 30);
  ASSERT_TRUE(alone.Of(0, 3).ok());
  const uint64_t one = alone.most_bytes();  // with room for more, which a finished one gives back
  ASSERT_TRUE(alone.Of(0, 4).ok());
  EXPECT_GT(alone.most_bytes(), one);
  Histories tight(*emulation, {}, one + one / 4);
  for (const uint64_t cta : {3, 4, 3}) {
    const auto history = tight.Of(0, cta);
    ASSERT_TRUE(history.ok()) << history.status();
    EXPECT_GT((*history)->num_instructions(0), 0u);
    EXPECT_LE((*history)->bytes(), one);
  }
  EXPECT_LE(tight.most_bytes(), one + one / 4);
  tight.Reserve(one);
  const absl::Status refused = tight.Of(0, 5).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(refused.message().find(" bytes for register watches"), std::string::npos) << refused;
  tight.Reserve(0);
  EXPECT_TRUE(tight.Of(0, 5).ok());
}

TEST(HistoriesTest, AreBounded) {
  std::vector<std::string> args = KernelArgs("sgemm_register");
  args.insert(args.end(), {"--history-mib", "1"});
  const auto outcome = Debug(args, "tbreak op FFMA\nc\nregs R0\n");
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_NE(outcome.err.find("take more than 1 MiB, the limit (--history-mib)"), std::string::npos)
      << outcome.err;
}

}  // namespace
}  // namespace sm89
