// Where commands come from, mistakes in them, and that debugging changes no result.
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include "sim/debug/commands.h"
#include "sim/sm/warp_view.h"
#include "sim/tools/sim_interrupt.h"
#include "tests/unit/sim_debug/debug_run.h"
#include "tests/unit/sim_tools/run_sim.h"

namespace sm89 {
namespace {

using testing::Debug;
using testing::DebugOutcome;
using testing::KernelArgs;
using testing::KernelScript;
using testing::Times;
using testing::TraceArgs;
using testing::WarpScript;
using testing::WriteTrace;

std::string TextOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string TempPath(const std::string& name) {
  return ::testing::TempDir() + "/sm89_debug_" + std::to_string(getpid()) + "_" + name;
}

std::string SmallTrace() {
  static const std::string path = [] {
    KernelScript kernel;
    kernel.info.grid = {300, 1, 1};
    kernel.info.block = {96, 1, 1};
    kernel.warp = [](uint32_t c, uint32_t w) {
      WarpScript s;
      s.Op("IADD3", {4}, {4, 5}).Mem("LDG.E", {6}, {2}, 0x7f0000000000 + 512 * c + 128 * w, 4);
      s.Op("FFMA", {7}, {6, 6, 7}).Mem("STS", {}, {4, 7}, 128 * w, 8).Op("BAR.SYNC");
      s.Mem("LDS", {8}, {4}, 0, 64, 0x0000ffff + (c % 7) * 0x10000)
          .Mem("STG.E", {}, {2, 8}, 0x7f1000000000, 4);
      return s.Op("EXIT");
    };
    return WriteTrace({kernel, kernel});
  }();
  return path;
}

// Runs sm89-sim and sm89-debug with a script and compares their full reports.
void ExpectSameReport(const std::vector<std::string>& args, const std::string& script) {
  const std::string by_sim = TempPath("sim.json");
  const std::string by_debug = TempPath("debug.json");
  std::vector<std::string> sim = args, debug = args;
  sim.insert(sim.end(), {"--json", by_sim});
  debug.insert(debug.end(), {"--json", by_debug});
  ASSERT_EQ(testing::Sim(sim).code, 0);
  // As at a terminal: a warp that has ended in between stops no script.
  const DebugOutcome outcome = Debug(debug, script, /*terminal=*/true);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(Times(outcome.out, "the simulation has ended (complete)"), 1u);
  const std::string report = TextOf(by_sim);
  EXPECT_GT(report.size(), 1000u);
  EXPECT_EQ(TextOf(by_debug), report);
}

std::string ManyStops() {
  std::string script = "tbreak op BAR\nc\nwarps\nqueues\ncycle 100\nstep 5\n";
  for (int i = 0; i < 50; ++i) script += "cycle\nwarp warp 0\nstep\n";
  script += "break op BAR warp 1\nwatch shared 0 64\nc\nc\nc\nqueues memory\nreport\n";
  return script + "delete all\ncontinue\n";
}

TEST(SessionTest, GivesTheReportOfSm89SimForTraces) {
  EXPECT_GT(Times(Debug({"--trace", SmallTrace()}, ManyStops(), true).out, " issues "), 30u);
  ExpectSameReport({"--trace", SmallTrace()}, "continue\n");
  ExpectSameReport({"--trace", SmallTrace()}, ManyStops());
  ExpectSameReport({"--trace", SmallTrace(), "--config", "RTX4090_SER"}, ManyStops());
  ExpectSameReport({"--trace", SmallTrace(), "--set", "gpgpu_sm89_window_cycles=1"}, ManyStops());
}

TEST(SessionTest, GivesTheReportOfSm89SimForExecutedKernels) {
  ExpectSameReport(KernelArgs("reduction"), ManyStops());
  std::vector<std::string> args = KernelArgs("sgemm_tiled");
  ExpectSameReport(args, ManyStops());
  args.insert(args.end(), {"--config", "RTX4090_SER"});
  ExpectSameReport(args, ManyStops());
}

TEST(SessionTest, TakesCommandsFromOptionsFilesAndStandardInput) {
  std::vector<std::string> args = TraceArgs(SmallTrace());
  const std::string expected = Debug(args, "break cycle 5\nc\n").out;
  EXPECT_EQ(expected, "(sm89) break cycle 5\nbreakpoint 1: cycle 5\n(sm89) c\nbreakpoint 1: cycle 5\n");
  std::vector<std::string> by_option = args;
  by_option.insert(by_option.end(), {"-c", "break cycle 5", "--command", "c"});
  EXPECT_EQ(Debug(by_option, "this is not read").out, expected);
  const std::string file = TempPath("script");
  std::ofstream(file) << "# stops early\r\n\nbreak cycle 5\n  c   # to there\n";
  std::vector<std::string> by_file = args;
  by_file.insert(by_file.end(), {"--script", file});
  EXPECT_EQ(Times(Debug(by_file, "this is not read").out, "breakpoint 1: cycle 5\n"), 2u);
  std::vector<std::string> both = by_file;
  both.insert(both.end(), {"-c", "kernels"});
  EXPECT_EQ(Debug(both, "").out.find("(sm89) kernels\n"), 0u) << "the options' come first";
  by_option.insert(by_option.end(), {"--script", "-"});
  EXPECT_EQ(Debug(by_option, "stops").out, expected + "(sm89) stops\nbreakpoint 1: cycle 5, 1 hit\n");
  EXPECT_EQ(Debug(args, "quit\nnonsense\n").code, 0);
  args.insert(args.end(), {"--script", "/nowhere/to/be/found"});
  const DebugOutcome missing = Debug(args, "");
  EXPECT_EQ(missing.code, 2);
  const std::string what =
      "the commands cannot be read (--script = '/nowhere/to/be/found', expected a file that can be read)";
  EXPECT_NE(missing.err.find(what), std::string::npos) << missing.err;
  args.back() = ::testing::TempDir();
  EXPECT_EQ(Debug(args, "").code, 2) << "a folder";
  const DebugOutcome both_wrong = Debug({"--trace", "/nowhere", "--script", "/nowhere/either"}, "");
  EXPECT_NE(both_wrong.err.find("--script"), std::string::npos) << "known before the input is read";
  const std::string empty = TempPath("empty");
  std::ofstream(empty).flush();
  args.back() = empty;
  EXPECT_EQ(Debug(args, "").code, 0);
}

TEST(SessionTest, GoesOnAtATerminal) {
  const DebugOutcome outcome =
      Debug(TraceArgs(SmallTrace()), "nonsense\ncycle\n\n\nwarp cta 0\nquit\n", /*terminal=*/true);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(Times(outcome.err, "error: "), 1u) << outcome.err;
  EXPECT_NE(outcome.out.find("cycle 3\n"), std::string::npos) << "an empty line repeats\n" << outcome.out;
  EXPECT_EQ(Times(outcome.out, "(sm89) "), 6u) << outcome.out;
  EXPECT_NE(outcome.out.find("2 kernels, a trace, without values. 'help' lists the commands.\n"),
            std::string::npos)
      << outcome.out;
}

TEST(SessionTest, StopsWhereItIsInterrupted) {
  const std::atomic<bool> interrupted{true};
  const DebugOutcome outcome = Debug(TraceArgs(SmallTrace()), "stops\ncontinue\n", false, &interrupted);
  EXPECT_EQ(outcome.code, 5);
  EXPECT_NE(outcome.err.find("standard input:2: error: interrupted in cycle 0"), std::string::npos)
      << outcome.err;
}

// Ctrl-C while it runs: it stops behind that cycle and can go on.
TEST(SessionTest, GoesOnAfterAnInterrupt) {
  std::atomic<bool> interrupted{false};
  debug::Debugger debugger({.history_bytes = 1 << 20, .emu = {}, .interrupted = &interrupted});
  SimulatorOptions options;
  options.config = testing::TestConfig();
  options.trace_path = SmallTrace();
  // Interrupts behind the first issue, which the debugger sees too.
  class Interrupting final : public IssueObserver {
   public:
    Interrupting(IssueObserver* next, std::atomic<bool>* flag) : next_(*next), flag_(*flag) {}
    void Issued(const IssuedInst& issued) override {
      next_.Issued(issued);
      if (!fired_) flag_.store(true);
      fired_ = true;
    }
    bool PauseAfter(Cycle cycle) override { return next_.PauseAfter(cycle); }

   private:
    IssueObserver& next_;
    std::atomic<bool>& flag_;
    bool fired_ = false;
  } observer(debugger.observer(), &interrupted);
  options.observer = &observer;
  auto simulator = Simulator::Create(std::move(options));
  ASSERT_TRUE(simulator.ok());
  debugger.Attach(*std::move(simulator));
  const auto stopped = debugger.Execute("continue");
  EXPECT_TRUE(absl::IsCancelled(stopped.status())) << stopped.status();
  EXPECT_NE(stopped.status().message().find("interrupted in cycle 5"), std::string::npos) << stopped.status();
  EXPECT_TRUE(debugger.Execute("warps").ok());
  interrupted.store(false);
  const auto ended = debugger.Execute("continue");
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->find("the simulation has ended (complete)"), 0u) << *ended;
}

// What the memory checker stops cannot go on; its finding is named once.
TEST(SessionTest, ReportsFaultsOfTheExecutedCode) {
  std::string launch = testing::ExampleKernelText("vector_add.json");
  const size_t count = launch.find("200003");
  ASSERT_NE(count, std::string::npos);
  launch.replace(count, 6, "64");  // elements of the first input
  const std::string file = TempPath("short.json");
  std::ofstream(file) << launch;
  const std::vector<std::string> args = {"--cubin", testing::ExampleKernelPath("vector_add.sm_89.cubin"),
                                         "--launch", file};
  std::vector<std::string> with_json = args;
  const std::string json = TempPath("failed.json");
  with_json.insert(with_json.end(), {"--json", json});
  const DebugOutcome outcome = Debug(with_json, "c\nwarps\nquit\n", /*terminal=*/true);
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_EQ(Times(outcome.err, "past the end of"), 1u) << "said once\n" << outcome.err;
  EXPECT_FALSE(std::ifstream(json).good()) << "no report of what has not ended";
  const DebugOutcome again = Debug(args, "c\nc\n", /*terminal=*/true);
  EXPECT_NE(again.err.find("the simulation has failed and cannot go on"), std::string::npos) << again.err;
  const DebugOutcome script = Debug(args, "c\n");
  EXPECT_EQ(script.code, 2);
  EXPECT_NE(script.err.find("standard input:1: error: "), std::string::npos) << script.err;
}

// Ctrl-C twice at a terminal breaks off what is executed: nothing can go on, but all can be looked at.
TEST(SessionTest, LetsAnExecutionThatWasBrokenOffBeLookedAt) {
  const std::atomic<bool> insisted{true};
  const DebugOutcome outcome =
      Debug(KernelArgs("vector_add"), "c\nkernels\nc\nquit\n", /*terminal=*/true, nullptr, &insisted);
  EXPECT_EQ(outcome.code, 5) << outcome.err;
  EXPECT_NE(outcome.err.find("error: interrupted while code was executed, in cycle "), std::string::npos)
      << outcome.err;
  EXPECT_EQ(Times(outcome.err, ": the simulation is over, but can be looked at\n"), 2u) << outcome.err;
  EXPECT_NE(outcome.out.find("   1  "), std::string::npos) << outcome.out;
  // One Ctrl-C is not enough for that, and a script has only one.
  const std::atomic<bool> interrupted{true};
  const DebugOutcome once =
      Debug(KernelArgs("vector_add"), "c\nquit\n", /*terminal=*/true, &insisted, nullptr);
  EXPECT_EQ(Times(once.err, "can be looked at"), 0u) << once.err;
  EXPECT_EQ(Debug(KernelArgs("vector_add"), "c\n", false, &interrupted).code, 5);
}

TEST(SessionTest, CountsInterruptsAtATerminal) {
  const std::atomic<bool>* const first = InstallInterruptFlag();
  KeepInterruptsForTerminal();
  EXPECT_FALSE(first->load());
  raise(SIGINT);
  EXPECT_TRUE(first->load());
  EXPECT_FALSE(InsistFlag()->load());
  raise(SIGINT);
  EXPECT_TRUE(InsistFlag()->load());
  EXPECT_EXIT(raise(SIGINT), ::testing::KilledBySignal(SIGINT), "");
  RearmInterruptFlag();
  EXPECT_FALSE(first->load());
  EXPECT_FALSE(InsistFlag()->load());
  raise(SIGINT);
  EXPECT_TRUE(first->load());
  EXPECT_EXIT(raise(SIGTERM), ::testing::KilledBySignal(SIGTERM), "");
  RearmInterruptFlag();
  signal(SIGINT, SIG_DFL);
}

TEST(SessionTest, ShowsInstructionsThatRideInAnothersSlot) {
  KernelScript kernel;
  kernel.info.block = {160, 1, 1};  // warps 0 and 4 share a sub-core
  kernel.warp = [](uint32_t, uint32_t) {
    WarpScript s;
    s.Op("IADD3", {4}, {4, 5}).Op("BAR.SYNC");
    for (int i = 0; i < 8; ++i) s.Op("FADD", {6 + i}, {4}, 0xff);
    return s.Op("EXIT");
  };
  std::vector<std::string> args = TraceArgs(WriteTrace({kernel}));
  args.insert(args.end(), {"--config", "RTX4090_SER"});
  const std::string text = Debug(args, "break op FADD\nc\nc\nc\n").out;
  EXPECT_GT(Times(text, " FADD R6 <- R4 for lanes 0x000000ff (SM 0 sub-core 0, in another warp's slot)\n"),
            0u)
      << text;
}

TEST(SessionTest, SaysWhatIsWrongAndWhere) {
  struct Case {
    const char* script;
    const char* error;
  };
  const Case cases[] = {
      {"nonsense\n", "no such command (command = 'nonsense', expected one of those that 'help' lists)"},
      {"break\n", "nothing to stop at (break, expected 'cycle N', or a place as"},
      {"break cycle\n", "nothing behind it (cycle, expected a number from 0 to"},
      {"break cycle -1\n", "not usable (cycle = '-1', expected a number"},
      {"cycle 5\nbreak cycle 3\n",
       "that cycle has passed (cycle = '3', expected one behind the present one, 5)"},
      {"break op LDG pc\n", "nothing behind it (pc, expected a number from 0 to 4294967295)"},
      {"break pc 0x1\n",
       "no instruction is there (place = 'pc 0x0001', expected an instruction of a simulated kernel)"},
      {"break op LD\n", "no instruction is there"},
      {"break line 3\n", "no instruction is there"},
      {"break kernel 3\n", "there is no such kernel (kernel = '3', expected one that is simulated, of 2)"},
      {"break cta 300\n", "no such CTA"},
      {"break cta 1,2,3,4\n", "not usable (cta = '1,2,3,4', expected coordinates X, X,Y or X,Y,Z)"},
      {"break warp 3\n", "no such warp (warp = '3', expected a number below a CTA's warps)"},
      {"break sm 128\n", "there is no such SM (sm = '128', expected up to 127)"},
      {"break op LDG please\n", "a word too many (break = 'please', expected nothing more)"},
      {"watch\n", "nothing to watch"},
      {"watch R255\n", "not usable (register = 'R255', expected R0 to R254, UR0 to UR62, P0 to P6"},
      {"watch R4\n", "no warp is selected"},
      {"tbreak op LDG\nc\nwatch R4\n", "a trace holds no register values"},
      {"tbreak op LDG\nc\nwatch R4-R7\n", "a run of registers (watch = 'R4-R7', expected one register)"},
      {"watch global\n", "nothing behind it (global, expected an address)"},
      {"watch global there\n", "not usable (address = 'there', expected a number)"},
      {"watch shared there\n", "not usable (shared = 'there', expected an address"},
      {"watch shared 4 0\n", "not usable (bytes = '0', expected a number from 1"},
      {"watch local 4 4 write it\n", "a word too many (watch = 'it'"},
      {"delete 1\n", "there is no such stop (delete = '1', expected a number that 'stops' shows)"},
      {"delete\n", "nothing behind it (delete, expected a number"},
      {"step 0\n", "not usable (step = '0', expected a number from 1"},
      {"cycle x\n", "not usable (cycle = 'x', expected a number from 1"},
      {"c 5\n", "a word too many (continue = '5', expected nothing more)"},
      {"c\nc\n", "the simulation has ended"},
      {"warp\n", "no warp is selected: stop at one with 'break', or select one with"},
      {"warp cta 5\n", "no warp is resident at cta 5,0,0; 'warps' lists those that are"},
      {"cycle 3\nwarp pc 0x10\n", "not usable (warp = 'pc 0x0010', expected kernel, cta, warp and sm only)"},
      {"regs\n", "no warp is selected"},
      {"tbreak op LDG\nc\nregs\n", "a trace holds no register values; they come from machine code"},
      {"tbreak op LDG\nc\npreds\n", "a trace holds no register values"},
      {"regs R1 lane 32\n", "not usable (lane = '32', expected a number from 0 to 31)"},
      {"regs R9-R1\n", "not usable (register = 'R9-R1'"},
      {"tbreak op FFMA\nc\nbanks\n", "has no addresses; 'next' shows that of the next one"},
      {"tbreak op LDG\nc\nbanks\n", "is in shared memory"},
      {"tbreak op LDG\nc\naccess next\n", "warp 2 has no addresses"},
      {"tbreak op LDG\nc\naccess later\n", "a word too many (access = 'later'"},
      {"warps state lazy\n",
       "not usable (state = 'lazy', expected selected, not_selected, long_scoreboard, "},
      {"buffers\n", "a trace does not name its buffers"},
      {"list\n", "no warp is selected"},
      {"help nonsense\n", "no such command (help = 'nonsense'"},
      {"queues sm\n", "nothing behind it (sm"},
  };
  for (const Case& c : cases) {
    const DebugOutcome outcome = Debug(TraceArgs(SmallTrace()), c.script);
    EXPECT_EQ(outcome.code, 2) << c.script;
    const std::string where =
        "sm89-debug: standard input:" + std::to_string(Times(c.script, "\n")) + ": error: ";
    EXPECT_EQ(outcome.err.find(where), 0u) << c.script << outcome.err;
    EXPECT_NE(outcome.err.find(c.error), std::string::npos) << c.script << outcome.err;
  }
  const DebugOutcome unknown = Debug(KernelArgs("vector_add"), "tbreak op FADD\nc\nregs R200\n");
  EXPECT_NE(unknown.err.find("the kernel does not use it (register = 'R200', expected below R"),
            std::string::npos)
      << unknown.err;
  const DebugOutcome buffer = Debug(KernelArgs("vector_add"), "watch global nobody\n");
  EXPECT_NE(buffer.err.find("expected a number, or a buffer of kernel 1 as NAME or NAME+OFFSET"),
            std::string::npos)
      << buffer.err;
}

TEST(SessionTest, RefusesWrongOptionsAsSm89SimDoes) {
  EXPECT_EQ(Debug({}, "").code, 2);
  EXPECT_NE(Debug({}, "").err.find("no trace given"), std::string::npos);
  EXPECT_EQ(Debug({"--trace", SmallTrace(), "--set", "nonsense"}, "").code, 2);
  EXPECT_EQ(Debug({"--trace", SmallTrace(), "--history-mib", "0"}, "").code, 2);
  EXPECT_EQ(Debug({"--trace", SmallTrace(), "--max-cycles", "0"}, "").code, 2);
  EXPECT_EQ(Debug({"--nonsense"}, "").code, 2);
  const DebugOutcome limit = Debug({"--trace", SmallTrace(), "--max-cycles", "5100"}, "c\n");
  EXPECT_EQ(limit.code, 3) << limit.out;
  EXPECT_NE(limit.out.find(
                "the simulation has ended (cycle_limit: the limit of 5100 cycles was reached): 5100 cycles"),
            std::string::npos)
      << limit.out;
  EXPECT_EQ(Debug({"--help"}, "").code, 0);
  EXPECT_EQ(Debug({"--version"}, "").out.find("sm89-debug "), 0u);
}

TEST(CommandTableTest, NamesAreUniqueAndHelpKnowsThemAll) {
  std::set<std::string> names;
  std::string script = "help\n";
  for (const debug::CommandDef& command : debug::CommandTable::All()) {
    EXPECT_TRUE(names.insert(std::string(command.name)).second) << command.name;
    const bool fresh = command.alias.empty() || names.insert(std::string(command.alias)).second;
    EXPECT_TRUE(fresh) << command.alias;
    EXPECT_FALSE(command.summary.empty());
    script += "help " + std::string(command.name) + "\n";
  }
  const DebugOutcome outcome = Debug(TraceArgs(SmallTrace()), script);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const debug::CommandDef& command : debug::CommandTable::All()) {
    EXPECT_GE(Times(outcome.out, std::string(command.summary)), 2u) << command.name;
  }
}

TEST(SessionTest, BoundsBreakpointsAndLines) {
  std::string script;
  for (int i = 0; i < 65; ++i) script += "break op LDG\n";
  const DebugOutcome outcome = Debug(TraceArgs(SmallTrace()), script);
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_NE(outcome.err.find("standard input:65: error: there are 64 breakpoints and watches"),
            std::string::npos)
      << outcome.err;
  const DebugOutcome line = Debug(TraceArgs(SmallTrace()), "help " + std::string(1 << 20, 'x') + "\n");
  EXPECT_EQ(line.code, 2);
  EXPECT_NE(line.err.find("too long (line = 'more than 4096 bytes', expected a shorter one)"),
            std::string::npos)
      << line.err;
}

// With numbers, which models change, as '#' and one blank for many.
std::string Masked(const std::string& text) {
  const std::string numbers = std::regex_replace(text, std::regex("0x[0-9a-f]+|[0-9]+"), "#");
  return std::regex_replace(numbers, std::regex(" +"), " ");
}

// Whether a line is the shown one, in which " ..." stands for anything; a command's comment is left out.
bool MatchesRow(const std::string& line, const std::string& shown) {
  const std::string anything = " ...";
  size_t at = 0;
  for (size_t begin = 0; begin <= shown.size();) {
    const size_t end = std::min(shown.find(anything, begin), shown.size());
    const std::string piece = shown.substr(begin, end - begin);
    const size_t found = line.find(piece, at);
    if (found == std::string::npos || (begin == 0 && found != 0)) return false;
    at = found + piece.size();
    begin = end + anything.size();
  }
  const bool open = shown.ends_with(anything) || shown.starts_with("(sm#) ");
  return open || at == line.size();
}

// The page's example gives what the page shows, in that order, but for the numbers.
TEST(SessionTest, AnswersAsTheManualShows) {
  std::string script, shown;
  std::istringstream page(TextOf(std::string(SM89_SOURCE_DIR) + "/sim/debug/DEBUG.md"));
  int block = 0;  // code blocks begun so far: the first is the example, the second its output
  bool inside = false, script_begun = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      block += inside ? 1 : 0;
    } else if (inside && block == 1) {
      if (line == "END") script_begun = false;
      if (script_begun) script += line + "\n";
      if (line.ends_with("<<'END'")) script_begun = true;
    } else if (inside && block == 2) {
      shown += line + "\n";
    }
  }
  ASSERT_GT(Times(script, "\n"), 8u);
  ASSERT_GT(Times(shown, "\n"), 15u);
  const std::string transcript = testing::Transcript(KernelArgs("sgemm_tiled"), script);
  std::vector<std::string> said;
  std::istringstream all(transcript);
  for (std::string line; std::getline(all, line);) said.push_back(Masked(line));
  size_t at = 0;  // behind the last line found
  std::istringstream lines(shown);
  for (std::string line; std::getline(lines, line);) {
    if (line == "..." || line == "  ...") continue;
    const std::string wanted = Masked(line);
    size_t found = at;
    while (found < said.size() && !MatchesRow(said[found], wanted)) ++found;
    ASSERT_LT(found, said.size()) << "not behind line " << at << ": " << line << "\n" << transcript;
    at = found + 1;
  }
}

// Any sequence of lines is answered or refused, and the simulation comes to the same end.
TEST(SessionTest, SurvivesRandomCommands) {
  const std::vector<std::string> vocabulary = {"break",   "tbreak",
                                               "watch",   "delete",
                                               "stops",   "cycle",
                                               "step",    "kernels",
                                               "warps",   "warp",
                                               "regs",    "preds",
                                               "access",  "banks",
                                               "queues",  "list",
                                               "buffers", "report",
                                               "help",    "kernel",
                                               "cta",     "sm",
                                               "pc",      "op",
                                               "line",    "lane",
                                               "global",  "shared",
                                               "local",   "read",
                                               "write",   "next",
                                               "before",  "all",
                                               "f32",     "memory",
                                               "0",       "1",
                                               "2",       "7",
                                               "0x40",    "0x7f0000000000",
                                               "-1",      "1,0,0",
                                               "2,,",     "99999999999999999999",
                                               "LDG",     "BAR",
                                               "LDS",     "R4",
                                               "R0-R254", "P0",
                                               "UR3",     "RZ",
                                               "#",       "\xff\xfe",
                                               "''",      "18446744073709551615",
                                               "c x"};
  std::mt19937 random(89);
  for (const bool executed : {false, true}) {
    const std::vector<std::string> args = executed ? KernelArgs("vector_add") : TraceArgs(SmallTrace());
    const std::string plain = testing::LastAnswer(Debug(args, "c\n").out);
    EXPECT_EQ(plain.find("the simulation has ended (complete)"), 0u);
    std::string script;
    for (int i = 0; i < (executed ? 600 : 3000); ++i) {
      for (uint32_t words = 1 + random() % 6; words != 0; --words) {
        if (random() % 40 == 0) {
          for (uint32_t n = random() % 20; n != 0; --n) {
            const char c = static_cast<char>(random());
            script += c == '\n' ? ' ' : c;
          }
        } else {
          script += vocabulary[random() % vocabulary.size()];
        }
        script += ' ';
      }
      script += "\n";
    }
    script += "delete all\nc\n";
    const DebugOutcome outcome = Debug(args, script, /*terminal=*/true);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_GT(Times(outcome.err, "error: "), 100u) << "most of them make no sense";
    EXPECT_NE(outcome.out.find(plain), std::string::npos)
        << "the simulation ended as it does without a debugger";
  }
}

}  // namespace
}  // namespace sm89
