// The command line of sm89-sim, its exit codes and its result files.
#include "sim/tools/sim_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/tools/exit_codes.h"
#include "sim/tools/sim_errors.h"
#include "sim/tools/sim_output.h"
#include "sim/tools/sim_progress.h"

namespace sm89 {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kExample[] = SM89_SOURCE_DIR "/deploy/example";

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

struct Outcome {
  int code = -1;
  std::string out, err;
};

class SimCommandTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "sm89_sim_command_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    fs::create_directory(root_ / "tmp");
    fs::create_directory(root_ / "out");
    setenv("TMPDIR", (root_ / "tmp").c_str(), 1);
  }
  void TearDown() override {
    // Whatever happened, nothing temporary is left.
    EXPECT_TRUE(fs::is_empty(root_ / "tmp"));
    for (const auto& entry : fs::directory_iterator(root_ / "out")) {
      EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr(".tmp")));
    }
    unsetenv("TMPDIR");
    fs::remove_all(root_);
  }

  Outcome Run(std::vector<std::string> args, const std::atomic<bool>* interrupted = nullptr) {
    std::ostringstream out, err;
    Outcome outcome;
    outcome.code =
        SimMain(args, {.out = out, .err = err, .err_is_terminal = false, .interrupted = interrupted});
    outcome.out = out.str();
    outcome.err = err.str();
    return outcome;
  }
  // One small launch of the bundled example.
  Outcome RunSmall(std::vector<std::string> more) {
    std::vector<std::string> args = {"--trace", kExample, "--kernels", "5"};
    args.insert(args.end(), more.begin(), more.end());
    return Run(args);
  }
  std::string Out(const std::string& name) const { return (root_ / "out" / name).string(); }

  fs::path root_;
};

TEST_F(SimCommandTest, MistakesOfUsageAreCode2AndSayWhatIsWrong) {
  struct Row {
    std::vector<std::string> args;
    const char* message;
  };
  const Row rows[] = {
      {{}, "no trace given"},
      {{"--trace", "x", "--bogus"}, "--bogus"},
      {{"--trace"}, "--trace"},
      {{"--trace", "x", "--set", "no-equals"}, "no-equals"},
      {{"--trace", "x", "--set", "=5"}, "=5"},
      {{"--trace", "x", "--kernels", "3-1"}, "3-1"},
      {{"--trace", "x", "--kernels", "one"}, "one"},
      {{"--trace", "x", "--threads", "0"}, "threads"},
      {{"--trace", "x", "--threads", "many"}, "threads"},
      {{"--trace", "x", "--max-cycles", "-1"}, "max-cycles"},
      {{"--trace", "x", "--max-cycles", "99999999999999999999"}, "max-cycles"},
      {{"--trace", "x", "--max-cycles", "1e9"}, "max-cycles"},
      {{"--trace", "x", "--json", "-", "--csv", "-"}, "standard output"},
      {{"--trace", "x", "--json", "-", "--pc-csv", "-"}, "standard output"},
      {{"--trace", "x", "--host-time"}, "--text"},
      {{"--help", "nonsense"}, "nonsense"},
      {{"stray"}, "stray"},
      {{"--trace", "x", "--calibrate-auto"}, "--calibrate-auto requires --calibrate"},
      {{"--trace", "x", "--calibrate-output", "o"}, "--calibrate-output requires --calibrate"},
      {{"--trace", "x", "--baseline-allow-changes"}, "--baseline-allow-changes requires --baseline-check"},
      {{"--show", "tensor", "--trace", "x"}, "a view has no use for --trace"},
      {{"--show", "config", "--json", "o"}, "a view has no use for --json"},
      {{"--case", "a", "b"}, "--case takes one value each time: --case a --case b"},
      {{"--json", "a", "b"}, "--json takes one value\n"},
  };
  for (const Row& row : rows) {
    const Outcome outcome = Run(row.args);
    EXPECT_EQ(outcome.code, kExitBadInput) << row.message;
    EXPECT_THAT(outcome.err, HasSubstr(row.message));
    EXPECT_THAT(outcome.out, IsEmpty());
  }
}

TEST_F(SimCommandTest, HelpAndVersion) {
  const Outcome help = Run({"--help"});
  EXPECT_EQ(help.code, kExitOk);
  for (const char* text : {"--trace", "--foreign-arch", "--unknown-as-nop", "Exit codes:", "RTX4090",
                           "--max-cycles", "--pc-csv", "--profile"}) {
    EXPECT_THAT(help.out, HasSubstr(text));
  }
  EXPECT_EQ(Run({"-h"}).out, help.out);
  const Outcome group = Run({"--help", "dram"});
  EXPECT_EQ(group.code, kExitOk);
  EXPECT_THAT(group.out, HasSubstr("dram"));
  EXPECT_GT(Run({"--help", "all"}).out.size(), group.out.size());
  EXPECT_EQ(Run({"--version"}).code, kExitOk);
  EXPECT_THAT(Run({"--version"}).out, HasSubstr("model"));
}

TEST_F(SimCommandTest, BadInputIsRefusedBeforeAnythingIsWritten) {
  std::ofstream(Out("old.json")) << "old";
  const std::pair<std::vector<std::string>, const char*> rows[] = {
      {{"--trace", Out("absent")}, "absent"},
      {{"--trace", kExample, "--config", "NO_SUCH_GPU"}, "NO_SUCH_GPU"},
      {{"--trace", kExample, "--set", "no_such_setting=1"}, "no_such_setting"},
      {{"--trace", kExample, "--kernels", "99"}, "between 1 and 7"},
      {{"--trace", kExample, "--csv", Out("no/such/folder.csv")}, "no/such/folder.csv"},
      {{"--trace", kExample, "--csv", Out("")}, "folder"},
  };
  for (auto [args, message] : rows) {
    args.insert(args.end(), {"--json", Out("old.json")});
    const Outcome outcome = Run(args);
    EXPECT_EQ(outcome.code, kExitBadInput) << message;
    EXPECT_THAT(outcome.err, HasSubstr(message));
    EXPECT_EQ(ReadFile(Out("old.json")), "old");
  }
}

TEST_F(SimCommandTest, SettingsMayBeOverriddenOneByOne) {
  const Outcome outcome = RunSmall({"--set", "gpgpu_n_clusters=2", "--set", "gpgpu_sm89_slices_per_channel=1",
                                    "--json", Out("sets.json")});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  const auto json = nlohmann::json::parse(ReadFile(Out("sets.json")));
  EXPECT_EQ(json["config"]["num_sms"], 2);
  EXPECT_EQ(json["units"]["l2_slices"]["rows"].size(), 24u);
}

TEST_F(SimCommandTest, WritesEveryFormAndThePrintedTable) {
  const Outcome outcome = RunSmall({"--json", Out("r.json"), "--csv", Out("r.csv"), "--text", Out("r.txt")});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  const auto json = nlohmann::json::parse(ReadFile(Out("r.json")));
  EXPECT_EQ(json["status"], "complete");
  EXPECT_EQ(json["complete"], true);
  ASSERT_EQ(json["kernels"].size(), 1u);
  EXPECT_EQ(json["kernels"][0]["warp_instructions"], 64 * 4 * 19);  // CTAs, warps, instructions
  EXPECT_GT(json["totals"]["cycles"], 0);
  EXPECT_THAT(ReadFile(Out("r.csv")), HasSubstr("saxpy"));
  EXPECT_TRUE(ReadFile(Out("r.txt")).ends_with("GPGPU-Sim: *** exit detected ***\n"));
  EXPECT_THAT(outcome.out, HasSubstr("saxpy"));
}

TEST_F(SimCommandTest, ProfileByInstruction) {
  const Outcome outcome = RunSmall({"--pc-csv", Out("pc.csv"), "--json", Out("r.json")});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("instructions at which warps spent most cycles"));
  std::istringstream csv(ReadFile(Out("pc.csv")));
  std::string line;
  std::getline(csv, line);
  EXPECT_THAT(line, StartsWith("kernel,name,pc,opcode,source_line,issued,threads,stall_selected,"));
  EXPECT_THAT(line, EndsWith(",memory_l2_read_hits\r"));
  size_t rows = 0;
  while (std::getline(csv, line)) ++rows;
  const auto insts = nlohmann::json::parse(ReadFile(Out("r.json")))["kernels"][0]["per_pc"];
  EXPECT_EQ(insts.size(), rows);
  EXPECT_EQ(rows, 19u) << "each instruction of the kernel once";
  uint64_t issued = 0;
  for (const auto& inst : insts) issued += inst["issued"].get<uint64_t>();
  EXPECT_EQ(issued, 64u * 4 * 19);

  const Outcome to_out = RunSmall({"--pc-csv", "-"});
  EXPECT_EQ(to_out.out, ReadFile(Out("pc.csv"))) << "standard output has the same bytes and no table";
}

TEST_F(SimCommandTest, ProfileIsAbsentUnlessAskedFor) {
  const std::string plain = RunSmall({"--json", "-"}).out;
  EXPECT_THAT(plain, Not(HasSubstr("per_pc")));
  auto profiled = nlohmann::ordered_json::parse(RunSmall({"--json", "-", "--profile"}).out);
  EXPECT_EQ(profiled["kernels"][0].erase("per_pc"), 1u);
  EXPECT_EQ(profiled, nlohmann::ordered_json::parse(plain)) << "profiling changed a figure";
}

TEST_F(SimCommandTest, StandardOutputHoldsOnlyTheFormAskedFor) {
  const Outcome outcome = RunSmall({"--json", "-"});
  EXPECT_EQ(outcome.code, kExitOk);
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["status"], "complete");
}

TEST_F(SimCommandTest, SameBytesAgainAndOnMoreThreads) {
  const std::string first = RunSmall({"--json", "-"}).out;
  EXPECT_EQ(RunSmall({"--json", "-"}).out, first);
  EXPECT_EQ(RunSmall({"--json", "-", "--threads", "2"}).out, first);
}

TEST_F(SimCommandTest, CycleLimitIsCode3WithMarkedResults) {
  const Outcome outcome =
      RunSmall({"--max-cycles", "200", "--json", Out("r.json"), "--text", Out("r.txt"), "--host-time"});
  EXPECT_EQ(outcome.code, kExitLimit);
  EXPECT_THAT(outcome.err, HasSubstr("cycle_limit"));
  const auto json = nlohmann::json::parse(ReadFile(Out("r.json")));
  EXPECT_EQ(json["status"], "cycle_limit");
  EXPECT_EQ(json["complete"], false);
  EXPECT_THAT(ReadFile(Out("r.txt")), Not(HasSubstr("exit detected")));
}

TEST_F(SimCommandTest, InterruptedIsCode5) {
  const std::atomic<bool> interrupted{true};
  EXPECT_EQ(Run({"--trace", kExample}, &interrupted).code, kExitCancelled);
}

TEST_F(SimCommandTest, ForeignCodeNeedsTheFlagAndIsMarked) {
  // The first launch of the example, relabelled as sm_86.
  fs::create_directory(root_ / "foreign");
  std::ofstream(root_ / "foreign" / "kernelslist.g") << "kernel-1.traceg\n";
  std::ofstream(root_ / "foreign" / "kernel-1.traceg")
      << "-kernel name = k\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = "
         "8\n"
         "-binary version = 86\n-cuda stream id = 0\n-shmem base_addr = 0x0\n-local mem base_addr = 0x0\n"
         "-nvbit version = 1.7\n-accelsim tracer version = 5\n-enable lineinfo = 0\n\n#traces format = x\n\n"
         "#BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = 0\ninsts = 1\n0000 ffffffff 0 EXIT 0 0 0 \n\n#END_TB\n";
  const std::string folder = (root_ / "foreign").string();
  const Outcome refused = Run({"--trace", folder});
  EXPECT_EQ(refused.code, kExitBadInput);
  EXPECT_THAT(refused.err, HasSubstr("86"));
  const Outcome run = Run({"--trace", folder, "--foreign-arch", "--json", "-"});
  EXPECT_EQ(run.code, kExitOk) << run.err;
  EXPECT_THAT(run.out, HasSubstr("foreign_arch"));
  const std::string compact = (root_ / "compact").string();
  ASSERT_TRUE(IngestTrace(folder, compact, {.foreign_arch = true}).ok());
  const Outcome again = Run({"--trace", compact, "--json", "-"});
  EXPECT_EQ(again.code, kExitOk);
  EXPECT_THAT(again.err, HasSubstr("warning: the compact trace is marked foreign_arch"));
}

TEST_F(SimCommandTest, OneFileForTwoOutputsIsRefusedByName) {
  fs::create_symlink(root_ / "out", root_ / "again");
  const Outcome outcome = RunSmall({"--json", Out("r"), "--text", (root_ / "again" / "r").string()});
  EXPECT_EQ(outcome.code, kExitBadInput);
  EXPECT_THAT(outcome.err, HasSubstr("another file than --json"));
  EXPECT_FALSE(SameFile("/dev/null", "/dev/null"));
}

TEST_F(SimCommandTest, OutputIsWholeOrAbsent) {
  std::ostringstream unused;
  std::ofstream(Out("target")) << "old";
  fs::create_symlink("target", Out("link"));
  {
    auto abandoned = ResultOutput::Open(Out("link"), unused);
    ASSERT_TRUE(abandoned.ok());
  }
  EXPECT_EQ(ReadFile(Out("target")), "old");
  auto output = ResultOutput::Open(Out("link"), unused);
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(ReadFile(Out("target")), "old") << "until it is complete";
  ASSERT_TRUE((*output)->Commit("new").ok());
  EXPECT_EQ(ReadFile(Out("target")), "new");
  EXPECT_TRUE(fs::is_symlink(Out("link")));
  auto null = ResultOutput::Open("/dev/null", unused);
  ASSERT_TRUE(null.ok());
  EXPECT_TRUE((*null)->Commit("gone").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(SimErrors, OneLineAFault) {
  std::ostringstream err;
  PrintError("sm89-sim",
             InputError(absl::StatusCode::kInvalidArgument, "2 faults",
                        {Fault{.file = "a.traceg", .line = 7, .message = "first"},
                         Fault{.file = "b", .message = "second"}}),
             err);
  EXPECT_EQ(err.str(), "sm89-sim: error: a.traceg:7: first\nsm89-sim: error: b: second\n");
}

TEST(ExitCodes, OfStatuses) {
  EXPECT_EQ(ExitCodeOf(absl::OkStatus()), kExitOk);
  EXPECT_EQ(ExitCodeOf(absl::NotFoundError("")), kExitBadInput);
  EXPECT_EQ(ExitCodeOf(absl::DataLossError("")), kExitBadInput);
  EXPECT_EQ(ExitCodeOf(absl::ResourceExhaustedError("")), kExitLimit);
  EXPECT_EQ(ExitCodeOf(absl::InternalError("")), kExitInternal);
  EXPECT_EQ(ExitCodeOf(absl::UnknownError("")), kExitInternal);
  EXPECT_EQ(ExitCodeOf(absl::CancelledError("")), kExitCancelled);
}

TEST(Progress, LineOfARun) {
  SimProgress p;
  p.kernels_total = 16;
  p.kernels_done = 2;
  p.kernel_name = "bfs\x1b";
  p.cycle = 1'000'000;
  p.warp_instructions = 2'500'000;
  p.warp_instructions_total = 10'000'000;
  EXPECT_EQ(FormatProgress(p, 2.0),
            "kernel 3/16 bfs?  cycle 1.00M  inst 2.50M/10.0M 25%  IPC 2.50  1.25M inst/s  ETA 6 s");
  EXPECT_THAT(FormatProgress(SimProgress{}, 0), HasSubstr("ETA -"));
  p.warp_instructions_total = 0;
  EXPECT_THAT(FormatProgress(p, 2.0), HasSubstr("inst 2.50M/?  IPC 2.50  1.25M inst/s  ETA -"))
      << "a kernel that is executed while it is simulated";
}

TEST(HostTime, StandsBeforeTheClosingLines) {
  const std::string text = WithHostTime(
      "gpu_sim_cycle = 5\nGPGPU-Sim: *** simulation thread exiting ***\nGPGPU-Sim: *** exit detected ***\n",
      1'000'000, 90'061, 90'061.5);
  EXPECT_EQ(text,
            "gpu_sim_cycle = 5\n"
            "gpgpu_simulation_time = 1 days, 1 hrs, 1 min, 1 sec (90061 sec)\n"
            "gpgpu_simulation_rate = 11 (inst/sec)\ngpgpu_simulation_rate = 1 (cycle/sec)\n"
            "GPGPU-Sim: *** simulation thread exiting ***\nGPGPU-Sim: *** exit detected ***\n");
  EXPECT_THAT(WithHostTime("", 7, 3, 0.1), HasSubstr("= 7 (inst/sec)")) << "at least one second";
}

}  // namespace
}  // namespace sm89
