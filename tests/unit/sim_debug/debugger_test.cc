// Scripts of commands on small hand-written traces, with everything that they say.
#include <gtest/gtest.h>

#include "tests/unit/sim_debug/debug_run.h"

namespace sm89 {
namespace {

using testing::Answer;
using testing::Debug;
using testing::KernelScript;
using testing::Times;
using testing::TraceArgs;
using testing::Transcript;
using testing::WarpScript;
using testing::WriteTrace;

constexpr uint64_t kGlobal = 0x7f0000000000;

// Two CTAs of two warps:
//   0x00 IADD3   0x10 LDS, stride of 8 bytes: 2 passes   0x20 BAR.SYNC
//   0x30 LDG.E   0x40 IADD3 of its result   0x50 STG.E   0x60 EXIT
// Warp 1 has a long computation in front of the barrier and runs half of its lanes.
std::string Pairs() {
  KernelScript kernel;
  kernel.info.name = "pairs";
  kernel.info.grid = {2, 1, 1};
  kernel.info.block = {64, 1, 1};
  kernel.warp = [](uint32_t c, uint32_t w) {
    WarpScript s;
    const LaneMask mask = w == 0 ? ~LaneMask{0} : LaneMask{0xffff};
    s.Op("IADD3", {4}, {4, 5, 6}, mask);
    if (w == 0) {
      s.Mem("LDS", {8}, {4}, 0x100, 8, mask);
    } else {
      s.At(0x100).Op("MUFU.RCP", {9}, {4}, mask).Op("FADD", {9}, {9, 9}, mask).At(0x20);
    }
    s.Op("BAR.SYNC", {}, {}, mask).Mem("LDG.E", {10}, {2}, kGlobal + 0x1000 * c + 0x100 * w, 4, mask);
    s.Op("IADD3", {11}, {10, 10, 10}, mask).Mem("STG.E", {}, {2, 11}, kGlobal + 0x8000, 4, mask);
    return s.Op("EXIT", {}, {}, mask);
  };
  return WriteTrace({kernel});
}

std::vector<std::string> PairsArgs() {
  static const std::string path = Pairs();
  return TraceArgs(path);
}

TEST(DebuggerTest, BreaksAtAPcAndShowsWhatIssued) {
  EXPECT_EQ(Transcript(PairsArgs(), "break pc 0x10\ncontinue\nstops\n"),
            "(sm89) break pc 0x10\n"
            "breakpoint 1: pc 0x0010\n"
            "(sm89) continue\n"
            "breakpoint 1: pc 0x0010\n"
            "  cycle 7: kernel 1 CTA (0,0,0) warp 0 issues 0x0010 LDS R8 <- R4 for lanes 0xffffffff (SM 0 "
            "sub-core 0)\n"
            "  cycle 7: kernel 1 CTA (1,0,0) warp 0 issues 0x0010 LDS R8 <- R4 for lanes 0xffffffff (SM 1 "
            "sub-core 0)\n"
            "(sm89) stops\n"
            "breakpoint 1: pc 0x0010, 2 hits\n");
}

// Where each kind of place stops: how often, and whether it then goes on to the end.
TEST(DebuggerTest, PlacesStopAsOftenAsTheirHelpSays) {
  const auto stops = [](const std::string& place) {
    std::string script = "break " + place + "\n";
    for (int i = 0; i < 12; ++i) script += "continue\n";
    const auto outcome = Debug(PairsArgs(), script);
    EXPECT_EQ(outcome.code, 2) << "the last ones find an ended simulation";
    EXPECT_EQ(Times(outcome.out, "the simulation has ended (complete)"), 1u) << outcome.out;
    return Times(outcome.out, " issues ");
  };
  EXPECT_EQ(stops("kernel 1"), 1u) << "its first instruction";
  EXPECT_EQ(stops("cta 1"), 1u) << "the CTA's first instruction";
  EXPECT_EQ(stops("cta 1 warp 1"), 1u) << "the warp's first instruction";
  EXPECT_EQ(stops("warp 1"), 2u) << "that of warp 1 in each CTA";
  EXPECT_EQ(stops("sm 1"), 1u) << "one CTA";
  EXPECT_EQ(stops("pc 0x40"), 4u);
  EXPECT_EQ(stops("pc 0x40 warp 0"), 2u);
  EXPECT_EQ(stops("op IADD3"), 8u);
  EXPECT_EQ(stops("op LDG"), 4u);
  EXPECT_EQ(stops("op LDG.E sm 0"), 2u);
  EXPECT_EQ(stops("kernel 1 op BAR cta 0,0,0 warp 1"), 1u);
}

TEST(DebuggerTest, BreaksAtACycleOnceAndAtTemporaryOnesOnce) {
  EXPECT_EQ(Answer(PairsArgs(), "break cycle 9\ncontinue\n"), "breakpoint 1: cycle 9\n");
  EXPECT_EQ(Answer(PairsArgs(), "tbreak cycle 9\ntbreak op BAR\ncontinue\nstops\n"),
            "temporary breakpoint 2: op BAR, 0 hits\n");
  const std::string twice = Transcript(PairsArgs(), "tbreak op LDG\ncontinue\nstops\ncontinue\n");
  EXPECT_EQ(Times(twice, "no breakpoints or watches"), 1u) << twice;
  EXPECT_EQ(Times(twice, "the simulation has ended (complete)"), 1u) << twice;
}

TEST(DebuggerTest, StepsCyclesExactly) {
  EXPECT_EQ(Transcript(PairsArgs(), "cycle 2\ncycle\ncycle 3\n"),
            "(sm89) cycle 2\n"
            "cycle 2\n"
            "(sm89) cycle\n"
            "  cycle 2: kernel 1 CTA (0,0,0) warp 0 issues 0x0000 IADD3 R4 <- R4, R5, R6 for lanes "
            "0xffffffff (SM 0 "
            "sub-core 0)\n"
            "  cycle 2: kernel 1 CTA (0,0,0) warp 1 issues 0x0000 IADD3 R4 <- R4, R5, R6 for lanes "
            "0x0000ffff (SM 0 "
            "sub-core 1)\n"
            "  cycle 2: kernel 1 CTA (1,0,0) warp 0 issues 0x0000 IADD3 R4 <- R4, R5, R6 for lanes "
            "0xffffffff (SM 1 "
            "sub-core 0)\n"
            "  cycle 2: kernel 1 CTA (1,0,0) warp 1 issues 0x0000 IADD3 R4 <- R4, R5, R6 for lanes "
            "0x0000ffff (SM 1 "
            "sub-core 1)\n"
            "cycle 3\n"
            "(sm89) cycle 3\n"
            "cycle 6\n");
}

TEST(DebuggerTest, StepsInstructionsOfTheSelectedWarp) {
  const std::string text =
      Transcript(PairsArgs(), "tbreak cta 1 warp 0\ncontinue\nstep\nstep 2\nstep 4\nwarps cta 1 warp 0\n");
  EXPECT_EQ(Times(text, "CTA (1,0,0) warp 0 issues"), 4u) << text;
  EXPECT_LT(text.find("issues 0x0010 LDS"), text.find("issues 0x0030 LDG")) << text;
  EXPECT_NE(text.find("issues 0x0060 EXIT"), std::string::npos) << text;
}

TEST(DebuggerTest, SaysThatASteppedWarpHasEnded) {
  const std::string script = "tbreak cta 1 warp 0\ncontinue\nstep 100\n";
  const std::string text = Answer(PairsArgs(), script);
  EXPECT_NE(
      text.find(": kernel 1 CTA (1,0,0) warp 0 issues 0x0060 EXIT for lanes 0xffffffff (SM 1 sub-core 0)\n"
                "kernel 1 CTA (1,0,0) warp 0 has ended\n"),
      std::string::npos)
      << text;
  const auto outcome = Debug(PairsArgs(), "tbreak op EXIT cta 0 warp 1\nc\nstep\nstep\n");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(
      outcome.err.find("standard input:4: error: kernel 1 CTA (0,0,0) warp 1 has ended; select another"),
      std::string::npos)
      << outcome.err;
}

TEST(DebuggerTest, ShowsMasksCountersAndWhyAWarpDoesNotIssue) {
  // The IADD3 behind the load waits for it.
  EXPECT_EQ(Answer(PairsArgs(), "break cta 0 warp 0 op LDG\ncontinue\ncycle 20\nwarp\n"),
            "kernel 1 CTA (0,0,0) warp 0: SM 0 sub-core 0 slot 0, cycle 74\n"
            "  issued    4 instructions, the last one in cycle 53\n"
            "  next      0x0040 IADD3 R11 <- R10, R10, R10\n"
            "  control   stall 5, waits for SB0\n"
            "  lanes     0xffffffff (32), all so far 0xffffffff (32)\n"
            "  state     long_scoreboard since cycle 54: SB0 is 1, 0 wanted\n"
            "  counters  SB0 1 (long_scoreboard)  SB1 0  SB2 0  SB3 0  SB4 0  SB5 0\n"
            "  under way 1 load, 0 stores, 0 events\n"
            "  queue     0 of 5 places of its sub-core's memory queue taken\n");
  // Warp 0 waits for warp 1, which is not there yet.
  const std::string barrier = Answer(PairsArgs(), "break cta 0 warp 0 op BAR\ncontinue\ncycle 10\nwarp\n");
  EXPECT_NE(barrier.find("  state     barrier since cycle "), std::string::npos) << barrier;
  EXPECT_NE(barrier.find(": barrier 0 has 1 of 2 warps\n"), std::string::npos) << barrier;
  const std::string half = Answer(PairsArgs(), "cycle 3\nwarp cta 1 warp 1\n");
  EXPECT_NE(half.find("  lanes     0x0000ffff (16), all so far 0x0000ffff (16)\n"), std::string::npos)
      << half;
  EXPECT_NE(half.find("  state     branch_resolving since cycle 3: until cycle "), std::string::npos) << half;
}

TEST(DebuggerTest, ListsWarpsByPlaceAndState) {
  EXPECT_EQ(
      Answer(PairsArgs(), "cycle 3\nwarps warp 0\n"),
      "  SM slot kernel  CTA              warp   issued  next    lanes       state                    until  "
      "SB0-SB5\n"
      "   0    0      1  (0,0,0)             0        1  0x0010  0xffffffff  wait                         7  "
      "0 0 0 0 0 0\n"
      "   1    0      1  (1,0,0)             0        1  0x0010  0xffffffff  wait                         7  "
      "0 0 0 0 0 0\n"
      "2 resident warps: wait 2\n");
  const std::string all = Answer(PairsArgs(), "cycle 3\nwarps\n");
  EXPECT_EQ(Times(all, "\n"), 6u) << all;
  EXPECT_NE(all.find("\n4 resident warps: wait 2, branch_resolving 2\n"), std::string::npos) << all;
  EXPECT_EQ(Times(Answer(PairsArgs(), "cycle 3\nwarps pc 0x10\n"), "\n"), 4u);
  EXPECT_EQ(Times(Answer(PairsArgs(), "cycle 3\nwarps state branch_resolving sm 1\n"), "\n"), 3u);
  EXPECT_EQ(Answer(PairsArgs(), "cycle 3\nwarps pc 0x60\n"), "no such warp is resident\n");
  EXPECT_EQ(Answer(PairsArgs(), "cycle 3\nwarps state drain\n"), "no such warp is resident\n");
}

// Breakpoints of other warps interrupt a step, unless it is alone.
TEST(DebuggerTest, StepsAlonePastBreakpoints) {
  const std::string start = "tbreak cta 0 warp 0\nc\nbreak warp 1\nbreak op MUFU\nbreak cycle 8\n";
  const std::string stopped = Answer(PairsArgs(), start + "step 2\n");
  EXPECT_NE(stopped.find("breakpoint 4: cycle 8\n"), std::string::npos) << stopped;
  EXPECT_EQ(stopped.find("warp 0 issues 0x0020"), std::string::npos) << stopped;
  const std::string alone = Answer(PairsArgs(), start + "step 3 alone\n");
  EXPECT_EQ(Times(alone, "\n"), 1u) << alone;
  EXPECT_NE(alone.find("warp 0 issues 0x0030 LDG"), std::string::npos) << alone;
}

// Two barriers for the halves of a CTA, which a trace without machine code does not tell: warps wait for
// ever.
TEST(DebuggerTest, ShowsWhoWaitsInADeadlock) {
  KernelScript kernel;
  kernel.info.block = {128, 1, 1};
  kernel.warp = [](uint32_t, uint32_t w) {
    WarpScript s;
    return s.Op("BAR.SYNC.DEFER_BLOCKING", {}, {}, ~LaneMask{0}, 1 + w / 2).Op("EXIT");
  };
  const auto outcome = Debug(TraceArgs(WriteTrace({kernel})), "c\nwarp warp 3\nwarps\nqueues sm 0\n");
  EXPECT_EQ(outcome.code, 4) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("the simulation has ended (deadlock: "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find(": barrier 2 has 2 of 4 warps\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("4 resident warps: barrier 4\n"), std::string::npos) << outcome.out;
}

TEST(DebuggerTest, ShowsBanksPassByPass) {
  const std::string text = Answer(PairsArgs(), "break op LDS cta 0\ncontinue\nbanks\n");
  EXPECT_NE(text.find("\n  2 passes\n"), std::string::npos) << text;
  EXPECT_NE(
      text.find(
          "\n  pass 0    0   .   1   .   2   .   3   .   4   .   5   .   6   .   7   .   8   .   9   .  "
          "10   .  11   .  12   .  13   .  14   .  15   .\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("\n  pass 1   16   .  17   ."), std::string::npos) << text;
  // The same before it issues.
  const std::string next = Answer(PairsArgs(), "cycle 3\nwarp cta 0 warp 0\nbanks next\n");
  EXPECT_EQ(next.find("next: 0x0010 LDS R8 <- R4\n  2 passes\n"), 0u) << next;
}

TEST(DebuggerTest, NamesLanesThatShareAWord) {
  KernelScript kernel;
  kernel.warp = [](uint32_t, uint32_t) {
    WarpScript s;
    for (const int64_t stride : {0, 128}) s.Mem("LDS", {8}, {4}, 0x40, stride, 0xff);
    return s.Op("EXIT");
  };
  const auto args = TraceArgs(WriteTrace({kernel}));
  const std::string broadcast = Answer(args, "tbreak op LDS\nc\nbanks\n");
  EXPECT_NE(broadcast.find("\n  1 pass\n"), std::string::npos) << broadcast;
  EXPECT_NE(broadcast.find("  pass 0 bank 16 from 0x40: lanes 0-7\n"), std::string::npos) << broadcast;
  const std::string conflict = Answer(args, "break op LDS\nc\nc\nbanks\n");
  EXPECT_NE(conflict.find("\n  8 passes\n"), std::string::npos) << conflict;
  EXPECT_EQ(Times(conflict, "lanes "), 1u) << "that of the issue only: nothing is shared\n" << conflict;
}

TEST(DebuggerTest, ShowsAddressesLaneByLane) {
  const std::string text = Answer(PairsArgs(), "break op LDG cta 1 warp 1\nc\naccess\n");
  EXPECT_NE(text.find("\n  lane  0  global  0x7f0000001100\n  lane  1  global  0x7f0000001104\n"),
            std::string::npos)
      << text;
  EXPECT_NE(
      text.find("\n  lane 15  global  0x7f000000113c\n  1 line, 2 sectors, 0 passes over shared memory\n"),
      std::string::npos)
      << text;
}

TEST(DebuggerTest, WatchesAddressesOfEachSpace) {
  KernelScript kernel;
  const KernelInfo info = kernel.info;
  kernel.info.block = {64, 1, 1};
  kernel.warp = [&](uint32_t, uint32_t w) {
    WarpScript s;
    s.Mem("STG.E", {}, {2, 4}, kGlobal + 0x200 * w, 4).Mem("LDG.E", {4}, {2}, kGlobal + 0x200 * w, 4);
    s.Mem("STS", {}, {2, 4}, 0x80, 4).Mem("LD.E", {4}, {2}, info.shmem_base + 0x80, 4);
    s.Mem("STL", {}, {2, 4}, 0x10, 0).Mem("RED.E.ADD", {}, {2, 4}, kGlobal + 0x4000, 4);
    return s.Op("EXIT");
  };
  const auto args = TraceArgs(WriteTrace({kernel}));
  const auto hits = [&](const std::string& watch) {
    std::string script = "watch " + watch + "\n";
    for (int i = 0; i < 10; ++i) script += "c\n";
    const std::string out = Debug(args, script).out;
    EXPECT_EQ(Times(out, "the simulation has ended (complete)"), 1u) << out;
    std::string ops;
    const std::regex issue("warp ([0-9]) issues 0x[0-9a-f]+ ([A-Z]+)");
    for (std::sregex_iterator it(out.begin(), out.end(), issue), end; it != end; ++it) {
      ops += (*it)[2].str() + (*it)[1].str() + " ";
    }
    return ops;
  };
  EXPECT_EQ(hits("global 0x7f0000000000"), "STG0 LDG0 ");
  EXPECT_EQ(hits("global 0x7f0000000000 read"), "LDG0 ");
  EXPECT_EQ(hits("global 0x7f0000000000 write"), "STG0 ");
  EXPECT_EQ(hits("global 0x7f000000007f"), "STG0 LDG0 ") << "the last byte of the last lane";
  EXPECT_EQ(hits("global 0x7f0000000080"), "");
  EXPECT_EQ(hits("global 0x7f0000000080 0x200 write"), "STG1 ");
  EXPECT_EQ(hits("global 0x7f0000000000 0x1000 write warp 1"), "STG1 ");
  EXPECT_EQ(hits("global 0x7f0000004000 4 write warp 0"), "RED0 ");
  EXPECT_EQ(hits("global 0x7f0000004000 4 read"), "");
  EXPECT_EQ(hits("shared 0x84 warp 0"), "STS0 LD0 ") << "a generic address of shared memory, too";
  EXPECT_EQ(hits("shared 0x84 read op LD warp 1"), "LD1 ");
  EXPECT_EQ(hits("local 0x13 warp 1"), "STL1 ");
  const std::string text = Answer(args, "watch global 0x7f0000000008 8\nc\n");
  EXPECT_EQ(text.find("watch 1: global 0x7f0000000008 8, lanes 0x0000000c\n"), 0u) << text;
}

TEST(DebuggerTest, ListsTheCodeAroundTheWarp) {
  EXPECT_EQ(Answer(PairsArgs(), "break op BAR warp 0\nc\nlist 3\n"),
            "* 0x0020 BAR.SYNC\n"
            "> 0x0030 LDG.E R10 <- R2\n"
            "  0x0040 IADD3 R11 <- R10, R10, R10\n");
}

TEST(DebuggerTest, SaysHowFarKernelsAre) {
  KernelScript kernel;
  kernel.warp = [](uint32_t, uint32_t) { return WarpScript().Op("IADD3", {4}, {4}).Op("EXIT"); };
  auto args = TraceArgs(WriteTrace({kernel, kernel, kernel}));
  args.insert(args.end(), {"--kernels", "1-2"});
  const std::string text = Answer(args, "tbreak op EXIT kernel 1\nc\nkernels\n");
  EXPECT_NE(
      text.find("   1  kernel  grid (1,1,1) block (32,1,1)  since cycle 0: 1 of 1 CTAs launched, 0 done\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("   2  kernel  grid (1,1,1) block (32,1,1)  has not begun\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("   3  kernel  grid (1,1,1) block (32,1,1)  left out\n"), std::string::npos) << text;
  const std::string later = Transcript(args, "break kernel 2\nc\nkernels\nc\nreport\n");
  EXPECT_NE(later.find("  cycles 0 to "), std::string::npos) << later;
  EXPECT_NE(later.find("kernel 2 CTA (0,0,0) warp 0 issues 0x0000"), std::string::npos) << later;
  EXPECT_NE(later.find("waits most for"), std::string::npos) << "the result table\n" << later;
}

TEST(DebuggerTest, ListsSomeOfManyKernels) {
  KernelScript kernel;
  kernel.warp = [](uint32_t, uint32_t) { return WarpScript().Op("EXIT"); };
  const auto args = TraceArgs(WriteTrace(std::vector<KernelScript>(300, kernel)));
  const std::string all = Answer(args, "kernels\n");
  EXPECT_EQ(Times(all, "\n"), 257u);
  EXPECT_NE(all.find("\nand 44 more; 'kernels kernel N' shows one\n"), std::string::npos) << all;
  EXPECT_EQ(Answer(args, "kernels kernel 299\n"),
            " 299  kernel  grid (1,1,1) block (32,1,1)  has not begun\n");
  const auto none = Debug(args, "kernels kernel 301\n");
  EXPECT_NE(none.err.find("there is no such kernel (kernel = '301', expected a number from 1 to 300)"),
            std::string::npos)
      << none.err;
  const auto wrong = Debug(args, "kernels cta 1\n");
  EXPECT_NE(wrong.err.find("not usable (kernels = 'cta 1,0,0', expected 'kernel N' or nothing)"),
            std::string::npos)
      << wrong.err;
}

TEST(DebuggerTest, ShowsQueues) {
  const std::string text =
      Transcript(PairsArgs(), "break op LDG cta 0 warp 1\nc\ncycle 4\nqueues\nqueues sm 1\nqueues memory\n");
  EXPECT_NE(text.find("  SM 0 memory pipeline: 2 reads, 0 stores under way, "), std::string::npos) << text;
  EXPECT_NE(text.find("  SM 1 memory pipeline: "), std::string::npos) << text;
  EXPECT_NE(text.find("memory side: "), std::string::npos) << text;
}

// What the memory side is shown at is behind everything that is shown of it.
TEST(DebuggerTest, NamesTheCycleOfTheMemorySide) {
  const std::string text =
      Transcript(testing::KernelArgs("vector_add"),
                 "tbreak op LDG\nc\n" + testing::Repeated("cycle\nqueues memory\n", 300) + "report\n");
  const std::regex head(
      "^cycle ([0-9]+); memory side as of cycle ([0-9]+)(: what SMs sent since cycle ([0-9]+) "
      "is not handed over yet)?\n");
  const std::regex since("(?:since|arrived at) ([0-9]+)");
  size_t shown = 0, open = 0, dated = 0;
  for (const std::string& answer : testing::Answers(text)) {
    std::smatch match;
    if (!std::regex_search(answer, match, head)) continue;
    ++shown;
    const uint64_t now = std::stoull(match[1]), as_of = std::stoull(match[2]);
    EXPECT_GE(as_of, now);
    if (match[3].matched) {
      ++open;
      EXPECT_LT(std::stoull(match[4]), now);
    }
    for (std::sregex_iterator it(answer.begin(), answer.end(), since), end; it != end; ++it) {
      ++dated;
      EXPECT_LE(std::stoull((*it)[1]), as_of) << answer;
    }
  }
  EXPECT_EQ(shown, 301u) << "the report, too";
  EXPECT_GT(open, 200u);
  EXPECT_GT(dated, 50u);
}

// A queue names CTAs that have yet to begin by the number of the kernel in the trace.
TEST(DebuggerTest, QueuesNameKernelsAsThePlacesDo) {
  KernelScript kernel;
  kernel.warp = [](uint32_t, uint32_t) { return WarpScript().Op("IADD3", {4}, {4}).Op("EXIT"); };
  std::vector<std::string> args = {"--trace", WriteTrace({kernel, kernel}), "--kernels", "2"};
  const std::string text = Answer(args, "cycle 1\n" + testing::Repeated("cycle\n", 3) + "queues sm 0\n");
  EXPECT_NE(text.find("  SM 0 kernel 2 CTA (0,0,0) begins at cycle "), std::string::npos) << text;
}

// Stops that are set late know what has begun.
TEST(DebuggerTest, LateStopsAreAtFirstInstructionsOnly) {
  for (const char* place : {"kernel 1", "cta 1", "sm 1", "cta 0", "warp 0", "cta 0 warp 1"}) {
    const std::string script = std::string("tbreak op LDS\nc\nbreak ") + place + "\nc\n";
    EXPECT_EQ(Answer(PairsArgs(), script).find("the simulation has ended"), 0u) << place;
  }
  // Steps that look at no stops note it, too.
  const std::string alone =
      Answer(PairsArgs(), "tbreak cycle 1\nc\nbreak cta 1\nbreak kernel 1\nbreak sm 0\nstep 5 alone\nc\n");
  EXPECT_EQ(alone.find("the simulation has ended"), 0u) << alone;
}

// A step that is done in the cycle of another warp's breakpoint says both.
TEST(DebuggerTest, SaysThatAStepIsDoneBesideAStop) {
  const std::string text =
      Answer(PairsArgs(), "tbreak cta 0 warp 0\nc\nbreak op LDS cta 1\nwarp cta 0 warp 0\nstep\n");
  EXPECT_EQ(text.find("  cycle 7: kernel 1 CTA (0,0,0) warp 0 issues 0x0010 LDS"), 0u) << text;
  EXPECT_NE(text.find("breakpoint 2: cta 1,0,0 op LDS\n  cycle 7: kernel 1 CTA (1,0,0) warp 0 issues"),
            std::string::npos)
      << text;
}

// LDSM.x1 and .x2 take the addresses of their first 8 and 16 lanes; cache control reads nothing.
TEST(DebuggerTest, WatchesLanesWhoseAddressesAreUsed) {
  KernelScript kernel;
  kernel.info.shmem_bytes = 4096;
  kernel.warp = [](uint32_t, uint32_t) {
    WarpScript s;
    s.Mem("LDSM.16.M88", {8}, {4}, 0x100, 16).Mem("LDSM.16.M88.2", {8}, {4}, 0x100, 16);
    s.Mem("LDSM.16.M88.4", {8}, {4}, 0x100, 16).Mem("CCTL.IVALL", {}, {2}, kGlobal, 4);
    return s.Op("EXIT");
  };
  const auto args = TraceArgs(WriteTrace({kernel}));
  const auto hits = [&](const std::string& watch) {
    return Times(Debug(args, "watch " + watch + "\nc\nc\nc\nc\n").out, " issues ");
  };
  EXPECT_EQ(hits("shared 0x170 16"), 3u);
  EXPECT_EQ(hits("shared 0x180 16"), 2u) << "lane 8";
  EXPECT_EQ(hits("shared 0x200 16"), 1u) << "lane 16";
  EXPECT_EQ(hits("global 0x7f0000000000 128"), 0u);
  const std::string access = Answer(args, "tbreak op LDSM\nc\naccess\n");
  EXPECT_EQ(Times(access, "  shared  0x"), 8u) << access;
}

// Places that hold in no single kernel, and words twice.
TEST(DebuggerTest, RefusesPlacesThatNoKernelHas) {
  KernelScript small, large;
  small.warp = [](uint32_t, uint32_t) { return WarpScript().Op("FFMA", {4}, {4}).Op("EXIT"); };
  large.info.grid = {9, 1, 1};
  large.info.block = {96, 1, 1};
  large.warp = [](uint32_t, uint32_t) { return WarpScript().Op("FADD", {4}, {4}).Op("EXIT"); };
  const auto args = TraceArgs(WriteTrace({small, large}));
  for (const char* place : {"cta 8 op FFMA", "warp 2 op FFMA", "cta 8 op FFMA warp 0"}) {
    const auto outcome = Debug(args, std::string("break ") + place + "\n");
    EXPECT_EQ(outcome.code, 2) << place;
    EXPECT_NE(outcome.err.find("no kernel has all of them (place = "), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(Debug(args, "break cta 8 op FADD warp 2\nbreak cta 0 op FFMA\n").code, 0);
  const auto twice = Debug(args, "break kernel 1 op FFMA kernel 2\n");
  EXPECT_NE(twice.err.find("given twice (kernel, expected each word of a place once)"), std::string::npos)
      << twice.err;
}

// Who stands behind warps that the full queue refused earlier does not issue; else one of those that can
// does.
TEST(DebuggerTest, SaysWhoStandsBehindRefusedWarps) {
  KernelScript kernel;
  kernel.info.block = {512, 1, 1};
  kernel.warp = [](uint32_t, uint32_t) {
    WarpScript s;
    for (int i = 0; i < 16; ++i) s.Mem("LDS", {4 + i}, {2}, 0, 128);
    return s.Op("EXIT");
  };
  std::string script = "cycle 60\n";
  constexpr int kCycles = 120;
  for (int i = 0; i < kCycles; ++i) {
    for (const char* warp : {"0", "4", "8", "12"}) script += std::string("warp sm 0 warp ") + warp + "\n";
    script += "cycle\n";
  }
  const auto answers = testing::Answers(Transcript(TraceArgs(WriteTrace({kernel})), script));
  ASSERT_EQ(answers.size(), 1u + kCycles * 5);
  size_t behind = 0, first = 0;
  for (int i = 0; i < kCycles; ++i) {
    const std::string& issues = answers[5 * i + 5];
    bool can = false, did = false;
    for (int w = 0; w < 4; ++w) {
      const std::string& text = answers[5 * i + 1 + w];
      const bool issued = issues.find(" warp " + std::to_string(4 * w) + " issues ") != std::string::npos;
      did |= issued;
      can |= text.find("can issue in this cycle") != std::string::npos;
      if (text.find(" that the memory queue refused earlier\n") == std::string::npos) continue;
      ++behind;
      EXPECT_NE(text.find(": stands behind "), std::string::npos) << text;
      EXPECT_FALSE(issued) << text << issues;
    }
    first += can ? 1 : 0;
    EXPECT_TRUE(did || !can) << answers[5 * i + 1] << issues;
  }
  EXPECT_GT(behind, 10u);
  EXPECT_GT(first, 5u);
}

// A warp that the memory pipeline refuses says so.
TEST(DebuggerTest, ShowsThrottledWarps) {
  KernelScript kernel;
  kernel.info.block = {1024, 1, 1};
  kernel.warp = [](uint32_t, uint32_t w) {
    WarpScript s;
    for (uint32_t i = 0; i < 16; ++i) {
      s.Mem("LDG.E", {static_cast<int>(4 + i)}, {2}, kGlobal + 0x10000 * w + 0x1000 * i, 128);
    }
    return s.Op("EXIT");
  };
  const std::string text = Answer(TraceArgs(WriteTrace({kernel})), "cycle 150\nwarps sm 0\n");
  EXPECT_GT(Times(text, "  lg_throttle "), 8u) << text;
}

}  // namespace
}  // namespace sm89
