// Machine code beside a trace, and profiles by instruction, through the programs that users have.
#include <gmock/gmock.h>

#include <filesystem>

#include "nlohmann/json.hpp"
#include "tests/integration/service_test.h"

namespace sm89::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class MachineCodeServiceTest : public ServiceTest {
 protected:
  explicit MachineCodeServiceTest(DaemonOptions options = {}) : daemon_(std::move(options)) {}

  void SetUp() override {
    ServiceTest::SetUp();
    if (IsSkipped()) return;
    for (const char* name : {"sm89-sim", "sm89-cubin"}) {
      if (access(DaemonFixture::Program(name).c_str(), X_OK) != 0) GTEST_SKIP() << name << " is not built";
    }
    ASSERT_TRUE(daemon_.Start());
  }

  static std::string Kernel(const std::string& file) {
    return std::string(SM89_SOURCE_DIR) + "/tests/data/kernels/" + file;
  }
  static Json Parse(const std::string& text) {
    Json parsed = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    EXPECT_FALSE(parsed.is_discarded()) << text;
    return parsed;
  }
  ProgramResult Run(std::vector<std::string> words) const {
    words.front() = DaemonFixture::Program(words.front());
    return RunProgram(words, daemon_.File(""), {}, 300);
  }
  ProgramResult Submit(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"submit", "--wait", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return daemon_.Cli(words, 300);
  }
  // With another exit code of a result that is not complete.
  std::string Fetched(const std::vector<std::string>& command, const std::string& option,
                      int exit_code = 0) const {
    const std::string path = daemon_.File("fetched");
    std::vector<std::string> words = command;
    words.insert(words.end(), {option, path});
    const ProgramResult result = daemon_.Cli(words);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    return ReadFileText(path);
  }
  // vector_add's executed trace as the text that a tracer would have left.
  std::string TextTrace() const {
    const std::string folder = daemon_.File("traced");
    const ProgramResult traced =
        Run({"sm89-cubin", "trace", "--cubin", Kernel("vector_add.sm_89.cubin"), "--launch",
             Kernel("vector_add.json"), "--format", "accelsim", "--output", folder});
    EXPECT_EQ(traced.exit_code, 0) << traced.err;
    return folder;
  }
  std::string UploadedCode(const std::string& path) const {
    const ProgramResult uploaded = daemon_.Cli({"upload", "--sass", path, "--json"});
    EXPECT_EQ(uploaded.exit_code, 0) << uploaded.err;
    return Parse(uploaded.out)["trace"]["name"];
  }

  DaemonFixture daemon_;
};

TEST_F(MachineCodeServiceTest, AJobWithSassGivesTheBytesOfTheStandAloneProgram) {
  const std::string trace = TextTrace();
  const std::string cubin = Kernel("vector_add.sm_89.cubin");
  const std::string alone = daemon_.File("alone.json");
  const ProgramResult sim = Run({"sm89-sim", "--trace", trace, "--sass", cubin, "--json", alone});
  ASSERT_EQ(sim.exit_code, 0) << sim.err;
  const ProgramResult submitted = Submit({"--trace", trace, "--sass", cubin});
  ASSERT_EQ(submitted.exit_code, 0) << submitted.out << submitted.err << daemon_.log();
  const Json job = Parse(submitted.out)["jobs"][0];
  const std::string served = Fetched({"result", job["name"]}, "--json");
  EXPECT_EQ(Parse(served)["kernels"][0]["control_bits"], "machine code of vector_add.sm_89.cubin");
  EXPECT_EQ(served, ReadFileText(alone));
  // By name, from the cache; without it another question.
  const ProgramResult again = Submit({"--trace", job["spec"]["trace"], "--sass", job["spec"]["sass"][0]});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(Parse(again.out)["jobs"][0]["result_from_cache"], true);
  const ProgramResult without = Submit({"--trace", job["spec"]["trace"]});
  ASSERT_EQ(without.exit_code, 0) << without.err;
  EXPECT_EQ(Parse(without.out)["jobs"][0]["result_from_cache"], false);
}

TEST_F(MachineCodeServiceTest, CodeIsCalledAsInThisSubmissionWhoeverUploadedItBefore) {
  const std::string trace = TextTrace();
  const std::string cubin = Kernel("vector_add.sm_89.cubin");
  const ProgramResult first = Submit({"--trace", trace, "--sass", cubin});
  ASSERT_EQ(first.exit_code, 0) << first.out << first.err;
  const std::string mine = daemon_.File("my.cubin");
  std::filesystem::copy_file(cubin, mine);
  const std::string alone = daemon_.File("alone.json");
  const ProgramResult sim = Run({"sm89-sim", "--trace", trace, "--sass", mine, "--json", alone});
  ASSERT_EQ(sim.exit_code, 0) << sim.err;
  const ProgramResult second = Submit({"--trace", trace, "--sass", mine});
  ASSERT_EQ(second.exit_code, 0) << second.out << second.err;
  const Json job = Parse(second.out)["jobs"][0];
  EXPECT_EQ(job["result_from_cache"], false) << "a report with another name in it";
  EXPECT_EQ(job["spec"]["sass"], Parse(first.out)["jobs"][0]["spec"]["sass"]) << "sent only once";
  EXPECT_EQ(Fetched({"result", job["name"]}, "--json"), ReadFileText(alone));
  EXPECT_EQ(Parse(Submit({"--trace", trace, "--sass", mine}).out)["jobs"][0]["result_from_cache"], true);
  // An error about it, too.
  const std::string listing =
      "\tcode for sm_89\n\t\tFunction : vector_add\n"
      "        /*0000*/  NOP ;  /* 0x0000000000007918 */\n"
      "                         /* 0x000fc00000000000 */\n";
  for (const char* name : {"earlier.sass", "later.sass"}) {
    std::ofstream(daemon_.File(name)) << listing;
    const ProgramResult run = Submit({"--trace", trace, "--sass", daemon_.File(name)});
    EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
    EXPECT_THAT(Parse(run.out)["jobs"][0]["error_message"].get<std::string>(), HasSubstr(name));
  }
}

TEST_F(MachineCodeServiceTest, CodeOfAnotherBuildFailsTheJobWithKernelPcAndBothTexts) {
  // The text of a listing whose first instruction is another one.
  const std::string listing = daemon_.File("other.sass");
  std::ofstream(listing) << "\tcode for sm_89\n\t\tFunction : vector_add\n"
                            "        /*0000*/  NOP ;  /* 0x0000000000007918 */\n"
                            "                         /* 0x000fc00000000000 */\n";
  const ProgramResult run = Submit({"--trace", TextTrace(), "--sass", listing});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  const std::string message = Parse(run.out)["jobs"][0]["error_message"];
  for (const char* part : {"vector_add", "0x0", "NOP", "other.sass"}) EXPECT_THAT(message, HasSubstr(part));
}

TEST_F(MachineCodeServiceTest, ABaselineWithSassIsCheckedByJobsAndByTheStandAloneProgram) {
  const std::string trace = TextTrace(), cubin = Kernel("vector_add.sm_89.cubin");
  const std::string file = daemon_.File("baseline.json");
  const ProgramResult recorded =
      daemon_.Cli({"baseline", "record", file, "--trace", trace, "--sass", cubin}, 300);
  ASSERT_EQ(recorded.exit_code, 0) << recorded.out << recorded.err;
  EXPECT_EQ(Parse(ReadFileText(file))["runs"][0]["question"]["sass"].size(), 1u);
  EXPECT_EQ(daemon_.Cli({"baseline", "check", file, "--band", "0.1"}, 300).exit_code, 0);
  const ProgramResult alone = Run({"sm89-sim", "--baseline-check", file});
  EXPECT_EQ(alone.exit_code, 0) << alone.out << alone.err;
  EXPECT_EQ(daemon_
                .Cli({"baseline", "record", file, "--cubin", cubin, "--launch", Kernel("vector_add.json"),
                      "--sass", cubin})
                .exit_code,
            2);
}

TEST_F(MachineCodeServiceTest, UploadsOfCodeAreWhatTheySay) {
  const std::string code = UploadedCode(Kernel("vector_add.sm_89.cubin"));
  const ProgramResult shown = daemon_.Cli({"traces", "show", code, "--json"});
  const Json trace = Parse(shown.out);
  EXPECT_EQ(trace["marks"][0], "machine_code: 1 function of sm_89, for traces of their kernels");
  EXPECT_EQ(trace["options"]["machine_code"], true);
  // Neither stands in for the other.
  const ProgramResult as_trace = Submit({"--trace", code});
  EXPECT_EQ(as_trace.exit_code, 2) << as_trace.out;
  EXPECT_THAT(as_trace.out, HasSubstr("name it in 'sass'"));
  const ProgramResult uploaded = daemon_.Cli({"upload", "--json", MakeTrace(daemon_, "mine", 1)});
  ASSERT_EQ(uploaded.exit_code, 0) << uploaded.err;
  const std::string name = Parse(uploaded.out)["trace"]["name"];
  const ProgramResult as_code = Submit({"--trace", name, "--sass", name});
  EXPECT_EQ(as_code.exit_code, 2) << as_code.out;
  EXPECT_THAT(as_code.out, HasSubstr("an upload of machine code"));
  // What holds no code is refused.
  std::ofstream(daemon_.File("words.txt")) << "hello\n";
  const ProgramResult words = daemon_.Cli({"upload", "--sass", daemon_.File("words.txt")});
  EXPECT_EQ(words.exit_code, 2) << words.out;
  EXPECT_THAT(words.err, HasSubstr("no instruction with its encoding"));
  const ProgramResult folder = daemon_.Cli({"upload", "--sass", daemon_.File("mine")});
  EXPECT_EQ(folder.exit_code, 2);
  EXPECT_THAT(folder.err, HasSubstr("it is a folder"));
}

TEST_F(MachineCodeServiceTest, WhatAJobNamesAndIsNotThereIsToldByKind) {
  const std::string trace = TextTrace();
  const auto reason = [&](const std::vector<std::string>& more) {
    const ProgramResult refused = Submit(more);
    EXPECT_EQ(refused.exit_code, 3) << refused.out;
    return Parse(refused.out)["error"]["detail"]["reason"];
  };
  EXPECT_EQ(reason({"--trace", trace, "--config", "absent"}), "CONFIG_NOT_FOUND");
  EXPECT_EQ(reason({"--trace", "traces/absent"}), "TRACE_NOT_FOUND");
  EXPECT_EQ(reason({"--trace", trace, "--sass", "traces/absent"}), "TRACE_NOT_FOUND");
  EXPECT_EQ(reason({"--trace", trace, "--sass", "mistyped.cubin"}), "TRACE_NOT_FOUND");
  EXPECT_THAT(Submit({"--trace", trace, "--sass", "mistyped.cubin"}).out,
              HasSubstr("--sass mistyped.cubin: there is neither a file of that name here nor"));
}

TEST_F(MachineCodeServiceTest, CodeOfOtherKernelsFailsTheJobAndIsSaidOnce) {
  const std::string other = Kernel("reduction.sm_89.cubin");
  const ProgramResult run = daemon_.Cli({"submit", "--wait", "--trace", TextTrace(), "--sass", other}, 300);
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("no function of the machine code is one of the trace's kernels"));
  const std::string said = "expected 1 kernel (vector_add)";  // a table's cell is cut before that
  EXPECT_THAT(run.out, HasSubstr(said));
  EXPECT_EQ(run.out.find(said), run.out.rfind(said)) << run.out;
  EXPECT_THAT(run.out, HasSubstr("reduction.sm_89.cubin"));
  EXPECT_THAT(run.out, HasSubstr("vector_add"));
}

TEST_F(MachineCodeServiceTest, CodeOfAWaitingJobIsNotDeleted) {
  const std::string code = UploadedCode(Kernel("vector_add.sm_89.cubin"));
  ASSERT_EQ(daemon_.Cli({"pool", "drain"}).exit_code, 0);
  const ProgramResult queued = daemon_.Cli({"submit", "--json", "--trace", TextTrace(), "--sass", code});
  ASSERT_EQ(queued.exit_code, 0) << queued.err;
  const std::string job = Parse(queued.out)["jobs"][0]["name"];
  const ProgramResult kept = daemon_.Cli({"traces", "delete", code});
  EXPECT_EQ(kept.exit_code, 2) << kept.out << kept.err;
  ASSERT_EQ(daemon_.Cli({"cancel", job}).exit_code, 0);
  EXPECT_EQ(daemon_.Cli({"traces", "delete", code}).exit_code, 0);
}

TEST_F(MachineCodeServiceTest, AProfileIsThatOfTheStandAloneProgramAndAddsUp) {
  const std::vector<std::string> input = {"--cubin", Kernel("histogram.sm_89.cubin"), "--launch",
                                          Kernel("histogram.json")};
  const std::string json = daemon_.File("alone.json"), csv = daemon_.File("alone.csv");
  std::vector<std::string> sim = {"sm89-sim", "--pc-json", json, "--pc-csv", csv};
  sim.insert(sim.end(), input.begin(), input.end());
  const ProgramResult alone = Run(sim);
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  std::vector<std::string> words = {"--profile"};
  words.insert(words.end(), input.begin(), input.end());
  const ProgramResult submitted = Submit(words);
  ASSERT_EQ(submitted.exit_code, 0) << submitted.out << submitted.err << daemon_.log();
  const std::string job = Parse(submitted.out)["jobs"][0]["name"];
  const std::string served = Fetched({"profile", job}, "--json");
  EXPECT_EQ(served, ReadFileText(json));
  EXPECT_EQ(Fetched({"profile", job}, "--csv"), ReadFileText(csv));
  const Json kernel = Parse(served)["kernels"][0];
  const Json report = Parse(Fetched({"result", job}, "--json"))["kernels"][0];
  EXPECT_EQ(kernel["total"][0], report["statistics"]["sm"]["warp_instructions"]);
  EXPECT_EQ(kernel["total"][1], report["statistics"]["sm"]["thread_instructions"]);
  EXPECT_FALSE(report["per_pc"].empty());
  const ProgramResult shown = daemon_.Cli({"show", job});
  EXPECT_THAT(shown.out, HasSubstr("kept too"));
  // A job without a profile says so; with one is another question.
  const ProgramResult plain = Submit(input);
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  const ProgramResult none = daemon_.Cli({"profile", Parse(plain.out)["jobs"][0]["name"]});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("submitted without --profile"));
  // The tables.
  const ProgramResult table = daemon_.Cli({"profile", job});
  ASSERT_EQ(table.exit_code, 0) << table.err;
  for (const char* part :
       {"kernel 1 histogram", "waits %", "instruction", "histogram.cu:", "live", "PTX", "conflicts %"})
    EXPECT_THAT(table.out, HasSubstr(part));
  EXPECT_EQ(daemon_.Cli({"profile", "--from", json}).out, table.out);
  EXPECT_THAT(daemon_.Cli({"profile", job, "--lines"}).out, HasSubstr("histogram.cu:"));
  // Both files in one call; not into one file.
  const std::string a = daemon_.File("a.json"), b = daemon_.File("b.csv");
  EXPECT_EQ(daemon_.Cli({"profile", job, "--json", a, "--csv", b}).exit_code, 0);
  EXPECT_EQ(ReadFileText(a), served);
  EXPECT_EQ(ReadFileText(b), ReadFileText(csv));
  EXPECT_EQ(daemon_.Cli({"profile", job, "--json", a, "--csv", daemon_.File("./a.json")}).exit_code, 2);
}

TEST_F(MachineCodeServiceTest, AProfileOfATraceHasOpcodes) {
  const ProgramResult submitted = Submit({"--trace", TextTrace(), "--profile"});
  ASSERT_EQ(submitted.exit_code, 0) << submitted.out << submitted.err << daemon_.log();
  const std::string job = Parse(submitted.out)["jobs"][0]["name"];
  const ProgramResult table = daemon_.Cli({"profile", job});
  ASSERT_EQ(table.exit_code, 0) << table.err;
  for (const char* part : {"control bits: synthesised", "LDG.E", "EXIT"}) {
    EXPECT_THAT(table.out, HasSubstr(part));
  }
  EXPECT_THAT(table.out, ::testing::Not(HasSubstr("PTX")));
  const ProgramResult lines = daemon_.Cli({"profile", job, "--lines"});
  EXPECT_EQ(lines.exit_code, 0) << lines.err;
  EXPECT_THAT(lines.out, HasSubstr("line 4 ")) << "the tracer's numbers";
}

TEST_F(MachineCodeServiceTest, RenderingsGoToFilesOfTheirOwn) {
  const ProgramResult submitted = Submit({"--trace", TextTrace()});
  ASSERT_EQ(submitted.exit_code, 0) << submitted.err;
  const std::string job = Parse(submitted.out)["jobs"][0]["name"];
  const std::string file = daemon_.File("one");
  const ProgramResult both = daemon_.Cli({"result", job, "--json", file, "--csv", daemon_.File("./one")});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.err, HasSubstr("report.json and report.csv cannot both go to"));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(MachineCodeServiceTest, DecisionsOfTheReorderingStageAreThoseOfTheStandAloneProgram) {
  const std::vector<std::string> input = {"--config", "RTX4090_SER",
                                          "--cubin",  Kernel("sgemm_tiled.sm_89.cubin"),
                                          "--launch", Kernel("sgemm_tiled.json")};
  for (const auto& [format, ending] :
       {std::pair("compact", ".ser"), std::pair("csv", ".csv"), std::pair("jsonl", ".jsonl")}) {
    const std::string path = daemon_.File(std::string("alone") + ending);
    std::vector<std::string> sim = {"sm89-sim", "--ser-trace", path};
    sim.insert(sim.end(), input.begin(), input.end());
    const ProgramResult alone = Run(sim);
    ASSERT_EQ(alone.exit_code, 0) << alone.err;
    std::vector<std::string> words = {std::string("--ser-trace=") + format};
    words.insert(words.end(), input.begin(), input.end());
    const ProgramResult submitted = Submit(words);
    ASSERT_EQ(submitted.exit_code, 0) << submitted.out << submitted.err << daemon_.log();
    const Json job = Parse(submitted.out)["jobs"][0];
    EXPECT_EQ(job["result_from_cache"], false) << "another form is another question";
    const std::string served = Fetched({"result", job["name"]}, "--ser-trace");
    EXPECT_EQ(served, ReadFileText(path)) << format;
    const Json report = Parse(Fetched({"result", job["name"]}, "--json"));
    EXPECT_GT(report["kernels"][0]["statistics"]["sm"]["ser_invocations"], 0);
    EXPECT_GT(served.size(), 110u) << "decisions, not only a head";
  }
  // The stage is off.
  const ProgramResult off = Submit(
      {"--ser-trace", "--cubin", Kernel("sgemm_tiled.sm_89.cubin"), "--launch", Kernel("sgemm_tiled.json")});
  EXPECT_EQ(off.exit_code, 2) << off.out;
  EXPECT_THAT(off.out, HasSubstr("no reordering stage whose decisions could be kept"));
}

// The end record: a block's head of zeros, and the number of decisions.
TEST_F(MachineCodeServiceTest, DecisionsOfARunThatIsStoppedEarlyAreEndedToo) {
  for (const auto& [cycles, some] : {std::pair("10", false), std::pair("10000", true)}) {
    const std::vector<std::string> input = {
        "--config",     "RTX4090_SER",
        "--cubin",      Kernel("divergent.sm_89.cubin"),
        "--launch",     std::string(SM89_SOURCE_DIR) + "/tests/data/ser/crowded.json",
        "--max-cycles", cycles};
    const std::string path = daemon_.File("alone.ser");
    std::vector<std::string> sim = {"sm89-sim", "--ser-trace", path};
    sim.insert(sim.end(), input.begin(), input.end());
    const ProgramResult alone = Run(sim);
    ASSERT_EQ(alone.exit_code, 3) << alone.err;
    std::vector<std::string> words = {"--ser-trace=compact"};
    words.insert(words.end(), input.begin(), input.end());
    const ProgramResult submitted = Submit(words);
    ASSERT_EQ(submitted.exit_code, 5) << submitted.out << submitted.err << daemon_.log();
    const std::string job = Parse(submitted.out)["jobs"][0]["name"];
    const std::string served = Fetched({"result", job}, "--ser-trace", 5);
    EXPECT_EQ(served, ReadFileText(path));
    const uint64_t decisions =
        Parse(Fetched({"result", job}, "--json", 5))["kernels"][0]["statistics"]["sm"]["ser_invocations"];
    EXPECT_EQ(decisions > 0, some) << cycles;
    std::string end(8, '\0');
    for (int i = 0; i < 8; ++i) end.push_back(static_cast<char>(decisions >> (8 * i)));
    EXPECT_TRUE(served.ends_with(end)) << decisions;
  }
}

TEST_F(MachineCodeServiceTest, TheCacheGivesProfileAndDecisionsToo) {
  const std::vector<std::string> words = {"--profile", "--ser-trace",
                                          "--config",  "RTX4090_SER",
                                          "--cubin",   Kernel("sgemm_tiled.sm_89.cubin"),
                                          "--launch",  Kernel("sgemm_tiled.json")};
  const ProgramResult first = Submit(words);
  ASSERT_EQ(first.exit_code, 0) << first.out << first.err << daemon_.log();
  const Json ran = Parse(first.out)["jobs"][0];
  EXPECT_EQ(ran["result_from_cache"], false);
  const ProgramResult second = Submit(words);
  ASSERT_EQ(second.exit_code, 0) << second.out << second.err;
  const Json cached = Parse(second.out)["jobs"][0];
  EXPECT_EQ(cached["result_from_cache"], true);
  EXPECT_NE(cached["name"], ran["name"]);
  for (const auto& [command, option] :
       {std::pair("profile", "--json"), std::pair("profile", "--csv"), std::pair("result", "--ser-trace")}) {
    const std::string served = Fetched({command, cached["name"]}, option);
    EXPECT_FALSE(served.empty()) << command << option;
    EXPECT_EQ(served, Fetched({command, ran["name"]}, option)) << command << option;
  }
}

TEST_F(MachineCodeServiceTest, AQueuedJobWithEverythingOutlivesTheDaemon) {
  ASSERT_EQ(daemon_.Cli({"pool", "drain"}).exit_code, 0);
  const ProgramResult queued =
      daemon_.Cli({"submit", "--json", "--config", "RTX4090_SER", "--trace", TextTrace(), "--sass",
                   Kernel("vector_add.sm_89.cubin"), "--profile", "--ser-trace=csv"});
  ASSERT_EQ(queued.exit_code, 0) << queued.err;
  const Json before = Parse(queued.out)["jobs"][0];
  ASSERT_EQ(before["state"], "QUEUED");
  daemon_.KillNow();
  ASSERT_TRUE(daemon_.Start());
  const std::string job = before["name"];
  EXPECT_EQ(Parse(daemon_.Cli({"show", job, "--json"}).out)["spec"], before["spec"]);
  const ProgramResult resumed = daemon_.Cli({"pool", "resume"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  const ProgramResult ended = daemon_.Cli({"watch", job}, 300);
  ASSERT_EQ(ended.exit_code, 0) << ended.out << ended.err << daemon_.log();
  const Json profile = Parse(Fetched({"profile", job}, "--json"));
  EXPECT_EQ(profile["kernels"][0]["control_bits"], "machine code of vector_add.sm_89.cubin");
  EXPECT_THAT(Fetched({"result", job}, "--ser-trace"), HasSubstr("cycle"));
}

class SmallResultsTest : public MachineCodeServiceTest {
 protected:
  SmallResultsTest() : MachineCodeServiceTest({.flags = {"--max-artifact-bytes=1MiB"}}) {}
};

TEST_F(SmallResultsTest, AResultFileThatIsTooLargeFailsTheJob) {
  const ProgramResult run =
      daemon_.Cli({"submit", "--wait", "--trace", MakeTrace(daemon_, "many", 300)}, 300);
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("the result file"));
  EXPECT_THAT(run.out, HasSubstr("at most 1048576 are allowed (max_artifact_bytes)"));
}

TEST_F(SmallResultsTest, DecisionsThatTakeTooMuchRoomFailTheJob) {
  const std::vector<std::string> input = {
      "submit",   "--wait",
      "--config", "RTX4090_SER",
      "--cubin",  Kernel("divergent.sm_89.cubin"),
      "--launch", std::string(SM89_SOURCE_DIR) + "/tests/data/ser/crowded.json"};
  std::vector<std::string> words = input;
  words.emplace_back("--ser-trace=csv");
  const ProgramResult csv = daemon_.Cli(words, 300);
  EXPECT_EQ(csv.exit_code, 1) << csv.out << csv.err;
  EXPECT_THAT(csv.out, HasSubstr("take more than 1048576 bytes (max_artifact_bytes)"));
  words.back() = "--ser-trace=compact";
  EXPECT_EQ(daemon_.Cli(words, 300).exit_code, 0) << "a tenth of it";
}

// More than what a worker's messages may take, from its file to the daemon and to the user.
TEST_F(MachineCodeServiceTest, LargeResultsComeWhole) {
  const std::string launch = daemon_.File("crowd.json");
  std::ofstream(launch)
      << R"({"launches": [{"id": "crowd", "kernel": "divergent", "grid": [64], "block": [640],
    "args": [{"buffer": "start", "dtype": "u32", "count": 40960, "init": "hash", "seed": 10, "mod": 1000},
             {"buffer": "steps", "dtype": "u32", "count": 40960, "init": "zero"},
             {"buffer": "result", "dtype": "u32", "count": 40960, "init": "zero"},
             {"name": "count", "i32": 40960}]}]})";
  const ProgramResult submitted =
      Submit({"--config", "RTX4090_SER", "--cubin", Kernel("divergent.sm_89.cubin"), "--launch", launch,
              "--ser-trace=jsonl"});
  ASSERT_EQ(submitted.exit_code, 0) << submitted.out << submitted.err << daemon_.log();
  const std::string served = Fetched({"result", Parse(submitted.out)["jobs"][0]["name"]}, "--ser-trace");
  EXPECT_GT(served.size(), uint64_t{64} << 20);
  EXPECT_TRUE(served.ends_with("}\n"));
}

// Some seconds for one small kernel.
class SlowProfileTest : public MachineCodeServiceTest {
 protected:
  SlowProfileTest()
      : MachineCodeServiceTest({.flags = {}, .environment = {{"SM89_WORKER_FAULT", "slow@0"}}}) {}
};

TEST_F(SlowProfileTest, WatchersSeeTheProfileGrow) {
  const ProgramResult submitted =
      daemon_.Cli({"--json", "submit", "--profile", "--trace", MakeTrace(daemon_, "slow", 120), "--set",
                   "gpgpu_kernel_launch_latency=0"});  // in its launch latency a kernel has no profile
  ASSERT_EQ(submitted.exit_code, 0) << submitted.err;
  const std::string job = Parse(submitted.out)["jobs"][0]["name"];
  const ProgramResult watched = daemon_.Cli({"watch", job, "--events", "--profile=5"}, 120);
  ASSERT_EQ(watched.exit_code, 0) << watched.err;
  uint64_t empty = 0, profiles = 0;
  std::istringstream lines(watched.out);
  for (std::string line; std::getline(lines, line);) {
    const Json update = Parse(line);
    const Json& progress = update.contains("progress") && update["progress"].is_object()
                               ? update["progress"]
                               : update["job"]["progress"];
    if (!progress.is_object() || !progress.contains("profile") || !progress["profile"].is_object()) continue;
    const Json& profile = progress["profile"];
    EXPECT_LE(profile["rows"].size(), 5u);
    if (profile["rows"].empty()) {  // the kernel has just started
      ++empty;
      continue;
    }
    ++profiles;
    EXPECT_LE(std::stoull(profile["waited"].get<std::string>()),
              std::stoull(profile["warp_cycles"].get<std::string>()));
    EXPECT_FALSE(profile["rows"][0]["reasons"].empty());
  }
  EXPECT_GT(profiles, 1u) << empty << " without rows\n" << watched.out.substr(0, 4000);
}

}  // namespace
}  // namespace sm89::testing
