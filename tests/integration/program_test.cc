// Machine code goes in, is executed and timed on the server, through the programs that users have.
#include <gmock/gmock.h>

#include <cstdlib>

#include "nlohmann/json.hpp"
#include "tests/integration/service_test.h"

namespace sm89::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class ProgramTest : public ServiceTest {
 protected:
  explicit ProgramTest(DaemonOptions options = {}) : daemon_(std::move(options)) {}

  void SetUp() override {
    ServiceTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_TRUE(daemon_.Start());
  }

  static std::string Kernel(const std::string& file) {
    return std::string(SM89_SOURCE_DIR) + "/tests/data/kernels/" + file;
  }
  static std::vector<std::string> ExampleOptions(const std::string& name = "vector_add") {
    return {"--cubin", Kernel(name + ".sm_89.cubin"), "--launch", Kernel(name + ".json")};
  }
  static std::vector<std::string> With(std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static Json Parse(const std::string& text) {
    Json parsed = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    EXPECT_FALSE(parsed.is_discarded()) << text;
    return parsed;
  }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(daemon_.File(name)) << text;
    return daemon_.File(name);
  }
  ProgramResult Submit(const std::vector<std::string>& more) const {
    return daemon_.Cli(With({"submit", "--wait", "--json"}, more), 300);
  }
  std::string StoredReport(const std::string& job) const {
    const std::string path = daemon_.File("served.json");
    EXPECT_EQ(daemon_.Cli({"result", job, "--json", path}).exit_code, 0);
    return ReadFileText(path);
  }

  DaemonFixture daemon_;
};

TEST_F(ProgramTest, DaemonAndStandAloneProgramGiveTheSameBytes) {
  if (access(DaemonFixture::Program("sm89-sim").c_str(), X_OK) != 0) GTEST_SKIP() << "sm89-sim is not built";
  const std::string alone = daemon_.File("alone.json");
  const ProgramResult sim = RunProgram(
      With({DaemonFixture::Program("sm89-sim"), "--config", "RTX4090", "--json", alone}, ExampleOptions()),
      daemon_.File(""), {}, 300);
  ASSERT_EQ(sim.exit_code, 0) << sim.err;
  const ProgramResult submitted = Submit(ExampleOptions());
  ASSERT_EQ(submitted.exit_code, 0) << submitted.out << submitted.err << daemon_.log();
  const std::string served = StoredReport(Parse(submitted.out)["jobs"][0]["name"]);
  const Json report = Parse(served);
  ASSERT_EQ(report["kernels"].size(), 1u);
  EXPECT_EQ(report["kernels"][0]["name"], "vector_add");
  EXPECT_EQ(served, ReadFileText(alone));
}

TEST_F(ProgramTest, OutputsAreThoseOfAnH200) {
  const ProgramResult submitted = Submit(ExampleOptions());
  ASSERT_EQ(submitted.exit_code, 0) << submitted.out << submitted.err;
  const Json report = Parse(StoredReport(Parse(submitted.out)["jobs"][0]["name"]));
  const Json silicon = Parse(ReadFileText(Kernel("h200.json")));
  EXPECT_EQ(report["kernels"][0]["outputs"]["c"]["sha256"], silicon["vector_add"]["outputs"]["c"]["sha256"]);
}

TEST_F(ProgramTest, AnUploadIsListedAndSubmittedByName) {
  const ProgramResult uploaded = daemon_.Cli(With({"upload", "--json"}, ExampleOptions()));
  ASSERT_EQ(uploaded.exit_code, 0) << uploaded.err;
  const Json trace = Parse(uploaded.out)["trace"];
  EXPECT_EQ(trace["display_name"], "vector_add.sm_89.cubin");
  EXPECT_EQ(trace["kernels"], 1);
  EXPECT_THAT(trace["marks"][0].get<std::string>(), HasSubstr("emulated: 1 launch"));
  const ProgramResult again = daemon_.Cli(With({"upload", "--json"}, ExampleOptions()));
  EXPECT_EQ(Parse(again.out)["known_already"], true);
  // Nobody knows how many instructions it has: nothing that looks like a number of them is shown.
  EXPECT_THAT(daemon_.Cli({"traces"}).out, Not(HasSubstr("  0  ")));
  EXPECT_THAT(daemon_.Cli({"traces", "show", trace["name"]}).out, HasSubstr("known after a run"));
  const ProgramResult run = Submit({"--trace", trace["name"], "--kernels", "1"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const ProgramResult outside = Submit({"--trace", trace["name"], "--kernels", "2"});
  EXPECT_EQ(outside.exit_code, 2);
}

TEST_F(ProgramTest, TheSameQuestionIsAnsweredFromTheCache) {
  const ProgramResult first = Submit(ExampleOptions());
  ASSERT_EQ(first.exit_code, 0) << first.out << first.err;
  const ProgramResult second = Submit(ExampleOptions());
  EXPECT_EQ(Parse(second.out)["jobs"][0]["result_from_cache"], true);
  // A result without the trace does not answer a question for it.
  const ProgramResult kept = Submit(With(ExampleOptions(), {"--keep-trace"}));
  ASSERT_EQ(kept.exit_code, 0) << kept.out << kept.err;
  EXPECT_EQ(Parse(kept.out)["jobs"][0]["result_from_cache"], false);
}

TEST_F(ProgramTest, AKeptTraceIsWhatWasExecuted) {
  const ProgramResult submitted = Submit(With(ExampleOptions(), {"--keep-trace"}));
  ASSERT_EQ(submitted.exit_code, 0) << submitted.out << submitted.err << daemon_.log();
  const std::string job = Parse(submitted.out)["jobs"][0]["name"];
  const std::string kept = daemon_.File("kept.sm89t");
  const ProgramResult fetched = daemon_.Cli({"result", job, "--trace", kept});
  ASSERT_EQ(fetched.exit_code, 0) << fetched.err;
  const ProgramResult sim = RunProgram({DaemonFixture::Program("sm89-sim"), "--config", "RTX4090", "--trace",
                                        kept, "--json", daemon_.File("kept.json")},
                                       daemon_.File(""), {}, 300);
  ASSERT_EQ(sim.exit_code, 0) << sim.err;
  const Json live = Parse(StoredReport(job));
  const Json replayed = Parse(ReadFileText(daemon_.File("kept.json")));
  EXPECT_EQ(replayed["totals"], live["totals"]);
  // Nothing is left where workers keep traces for a while.
  for (const auto& entry : std::filesystem::directory_iterator(daemon_.data_dir() + "/workers"))
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("kept-")));
}

TEST_F(ProgramTest, ASuiteSendsTheModulesOfItsSelectedCases) {
  const std::string folder = std::string(SM89_SOURCE_DIR) + "/../shared/silicon";
  if (!std::filesystem::exists(folder + "/suite.json")) GTEST_SKIP() << "there is no " << folder;
  const ProgramResult run = Submit({"--suite", folder + "/suite.json", "--cubin-dir", folder + "/cubin",
                                    "--arch", "sm_90", "--case", "vector_add_ragged"});
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err << daemon_.log();
  const Json job = Parse(run.out)["jobs"][0];
  const Json report = Parse(StoredReport(job["name"]));
  ASSERT_EQ(report["kernels"].size(), 1u);
  EXPECT_EQ(report["kernels"][0]["binary_version"], 90);
  // Without --arch an analysis takes the program's own code.
  const ProgramResult info = daemon_.Cli({"analyze", "info", job["spec"]["trace"], "--module", "memory"});
  EXPECT_EQ(info.exit_code, 0) << info.err;
  EXPECT_THAT(info.out, HasSubstr("sm_90"));
}

TEST_F(ProgramTest, OnlyProgramsHaveATraceToKeep) {
  const ProgramResult refused =
      daemon_.Cli({"submit", "--trace", MakeTrace(daemon_, "mine", 1), "--keep-trace"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("keep_trace"));
}

TEST_F(ProgramTest, AWrongKernelNameIsRefusedWithItsLine) {
  std::string text = ReadFileText(Kernel("vector_add.json"));
  text.replace(text.find("\"kernel\": \"vector_add\""), 22, "\"kernel\": \"vector_sub\"");
  const ProgramResult refused = daemon_.Cli(
      {"upload", "--cubin", Kernel("vector_add.sm_89.cubin"), "--launch", Write("wrong.json", text)});
  EXPECT_EQ(refused.exit_code, 2) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("vector_sub"));
  EXPECT_THAT(refused.err, HasSubstr("vector_add"));  // what there is
}

TEST_F(ProgramTest, AFileThatIsNoCubinIsRefused) {
  const ProgramResult refused =
      daemon_.Cli({"upload", "--cubin", Kernel("vector_add.cu"), "--launch", Kernel("vector_add.json")});
  EXPECT_EQ(refused.exit_code, 2) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("vector_add.cu"));
}

TEST_F(ProgramTest, AProgramThatSpinsEndsAtItsBoundOfInstructions) {
  const std::string folder = std::string(SM89_SOURCE_DIR) + "/tests/data/spin/";
  const std::vector<std::string> spin = {
      "--cubin", folder + "spin.sm_89.cubin", "--launch", folder + "spin.json", "--max-instructions", "5000"};
  for (const auto& more : std::vector<std::vector<std::string>>{{}, {"--keep-trace"}}) {
    const ProgramResult run = Submit(With(spin, more));
    EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
    const Json job = Parse(run.out)["jobs"][0];
    EXPECT_EQ(job["error_code"], "RESOURCE_EXHAUSTED");
    EXPECT_THAT(job["error_message"].get<std::string>(),
                HasSubstr("kernel spin executed 5000 warp instructions, the limit (max_instructions)"));
    EXPECT_EQ(job["attempt"], 1) << "not tried again";
    EXPECT_THAT(daemon_.Cli({"show", job["name"]}).out, HasSubstr("instructions at most  5000"));
  }
  // The worker is free again, a bound that is far away changes nothing, and a trace has none.
  const ProgramResult bounded = Submit(With(ExampleOptions(), {"--max-instructions", "1000000000"}));
  EXPECT_EQ(bounded.exit_code, 0) << bounded.out << bounded.err;
  const std::string with = StoredReport(Parse(bounded.out)["jobs"][0]["name"]);
  const ProgramResult free = Submit(ExampleOptions());
  EXPECT_EQ(Parse(free.out)["jobs"][0]["result_from_cache"], false);
  EXPECT_EQ(with, StoredReport(Parse(free.out)["jobs"][0]["name"]));
  const ProgramResult trace =
      daemon_.Cli({"submit", "--trace", MakeTrace(daemon_, "mine", 1), "--max-instructions", "9"});
  EXPECT_EQ(trace.exit_code, 2) << trace.out;
  EXPECT_THAT(trace.err, HasSubstr("only what is executed is bounded"));
}

TEST_F(ProgramTest, ALimitGivesAnIncompleteResult) {
  const ProgramResult run = Submit(With(ExampleOptions(), {"--max-cycles", "3000"}));
  EXPECT_EQ(run.exit_code, 5) << run.out << run.err;
}

class SlowProgramTest : public ProgramTest {
 protected:
  SlowProgramTest()
      : ProgramTest({.flags = {}, .environment = {{"SM89_WORKER_FAULT", "slow@0"}}, .data_dir = ""}) {}
};

TEST_F(SlowProgramTest, ProgressIsSeenAndACancelEndsIt) {
  // Long enough to be met while it runs: 40 launches.
  const Json one = Parse(ReadFileText(Kernel("sgemm_tiled.json")))["launches"][0];
  Json many = {{"launches", Json::array()}};
  for (int i = 0; i < 40; ++i) {
    many["launches"].push_back(one);
    many["launches"].back()["id"] = "sgemm " + std::to_string(i);
  }
  const ProgramResult submitted =
      daemon_.Cli({"submit", "--json", "--cubin", Kernel("sgemm_tiled.sm_89.cubin"), "--launch",
                   Write("many.json", many.dump())});
  ASSERT_EQ(submitted.exit_code, 0) << submitted.err;
  const std::string name = Parse(submitted.out)["jobs"][0]["name"];
  const auto client = Connect(daemon_);
  v1::Job job;
  ASSERT_TRUE(WaitUntil(60, [&] {
    job = Get(*client, name).value();
    // All launches together: a launch's own count starts again every few milliseconds.
    return job.progress().warp_instructions() > 0 || client::IsTerminal(job.state());
  }));
  EXPECT_EQ(job.state(), v1::Job::RUNNING);
  EXPECT_EQ(job.progress().kernel_name(), "sgemm_tiled");
  EXPECT_EQ(job.progress().warp_instructions_total(), 0u);
  EXPECT_EQ(daemon_.Cli({"cancel", name}).exit_code, 0);
  EXPECT_EQ(WaitForState(*client, name, v1::Job::CANCELLED).state(), v1::Job::CANCELLED);
}

class NoPtxasTest : public ProgramTest {
 protected:
  NoPtxasTest() : ProgramTest({.flags = {"--ptxas=none"}, .environment = {}, .data_dir = ""}) {}
};

constexpr char kPtx[] =
    "// a kernel by hand\n"
    ".version 7.8\n.target sm_89\n.address_size 64\n"
    ".visible .entry store(.param .u64 out) {\n"
    "  .reg .b64 %a;\n  .reg .b32 %v;\n"
    "  ld.param.u64 %a, [out];\n  mov.u32 %v, 7;\n  st.global.u32 [%a], %v;\n  ret;\n}\n";
constexpr char kPtxLaunch[] =
    R"({"kernel": "store", "grid": [1], "block": [32],
        "args": [{"buffer": "out", "dtype": "u32", "count": 1, "init": "zero", "output": true}]})";

TEST_F(NoPtxasTest, PtxIsRefusedWithWhatToInstall) {
  const ProgramResult refused = daemon_.Cli(
      {"upload", "--cubin", Write("store.ptx", kPtx), "--launch", Write("store.json", kPtxLaunch)});
  EXPECT_EQ(refused.exit_code, 2) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("ptxas"));
  EXPECT_THAT(refused.err, HasSubstr("CUDA toolkit"));
}

TEST_F(ProgramTest, PtxIsCompiledAndRuns) {
  if (std::system("command -v ptxas > /dev/null 2>&1") != 0) GTEST_SKIP() << "ptxas is not on PATH";
  const ProgramResult run =
      Submit({"--cubin", Write("store.ptx", kPtx), "--launch", Write("store.json", kPtxLaunch)});
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err << daemon_.log();
  const ProgramResult refused =
      daemon_.Cli({"upload", "--cubin", Write("bad.ptx", std::string(kPtx) + "nonsense"), "--launch",
                   Write("store.json", kPtxLaunch)});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("bad.ptx"));
}

TEST_F(ProgramTest, AnalysesAnswerForFilesAndForUploads) {
  const ProgramResult info = daemon_.Cli({"analyze", "info", "--cubin", Kernel("vector_add.sm_89.cubin")});
  ASSERT_EQ(info.exit_code, 0) << info.err << daemon_.log();
  EXPECT_THAT(info.out, HasSubstr("vector_add"));
  const ProgramResult uploaded = daemon_.Cli(With({"upload", "--json"}, ExampleOptions()));
  ASSERT_EQ(uploaded.exit_code, 0) << uploaded.err;
  const std::string name = Parse(uploaded.out)["trace"]["name"];
  const ProgramResult of_upload = daemon_.Cli({"analyze", "mix", name, "--json"});
  ASSERT_EQ(of_upload.exit_code, 0) << of_upload.err;
  const ProgramResult of_file =
      daemon_.Cli({"analyze", "mix", "--cubin", Kernel("vector_add.sm_89.cubin"), "--json"});
  EXPECT_EQ(of_upload.out, of_file.out);
  EXPECT_TRUE(Parse(of_file.out).is_object() || Parse(of_file.out).is_array());
}

TEST_F(ProgramTest, AnAnalysisOfRubbishNamesTheFile) {
  const ProgramResult refused = daemon_.Cli({"analyze", "dis", "--cubin", Kernel("vector_add.cu")});
  EXPECT_EQ(refused.exit_code, 2) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("vector_add.cu"));
  EXPECT_EQ(daemon_.Cli({"analyze", "dis", "traces/aaaaaaaaaaaaaaaa"}).exit_code, 3);
}

TEST_F(ProgramTest, FragmentLayoutsNeedNoCode) {
  const ProgramResult text =
      daemon_.Cli({"analyze", "mma-layout", "--shape", "m16n8k8", "--type", "bf16.f32"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("m16n8k8"));
  const ProgramResult drawn =
      daemon_.Cli({"analyze", "mma-layout", "--shape", "m16n8k8", "--type", "bf16.f32", "--svg"});
  EXPECT_THAT(drawn.out, HasSubstr("<svg"));
}

}  // namespace
}  // namespace sm89::testing
