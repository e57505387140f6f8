// A trace goes in, statistics come out, through the programs that users have.
#include <gmock/gmock.h>

#include "client/checksum.h"
#include "nlohmann/json.hpp"
#include "tests/integration/service_test.h"
#include "tests/support/gzip_file.h"

namespace sm89::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class EndToEndTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_TRUE(daemon_.Start());
  }

  static Json Parse(const std::string& text) {
    Json parsed = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    EXPECT_FALSE(parsed.is_discarded()) << text;
    return parsed;
  }

  DaemonFixture daemon_;
};

TEST_F(EndToEndTest, DaemonAndStandAloneProgramGiveTheSameBytes) {
  if (access(DaemonFixture::Program("sm89-sim").c_str(), X_OK) != 0) GTEST_SKIP() << "sm89-sim is not built";
  const std::string alone = daemon_.File("alone.json");
  const ProgramResult sim = RunProgram({DaemonFixture::Program("sm89-sim"), "--config", "RTX4090", "--trace",
                                        Example().string(), "--json", alone, "--kineto", alone + ".gz"},
                                       daemon_.File(""));
  ASSERT_EQ(sim.exit_code, 0) << sim.err;

  const ProgramResult uploaded = daemon_.Cli({"upload", Example().string(), "--json"});
  ASSERT_EQ(uploaded.exit_code, 0) << uploaded.err;
  const std::string trace = Parse(uploaded.out)["trace"]["name"];
  const ProgramResult submitted = daemon_.Cli({"submit", "--trace", trace, "--config", "RTX4090", "--json"});
  ASSERT_EQ(submitted.exit_code, 0) << submitted.err;
  const std::string job = Parse(submitted.out)["jobs"][0]["name"];
  const ProgramResult watched = daemon_.Cli({"watch", job, "--json"});
  ASSERT_EQ(watched.exit_code, 0) << watched.out << watched.err << daemon_.log();
  EXPECT_EQ(Parse(watched.out)["state"], "SUCCEEDED");
  const std::string served = daemon_.File("served.json");
  ASSERT_EQ(daemon_.Cli({"result", job, "--json", served, "--kineto", served + ".gz"}).exit_code, 0);

  const Json ours = Parse(ReadFileText(served));
  EXPECT_GT(ours["kernels"].size(), 0u);
  // The trace's name is what the user called it; a folder is uploaded as an archive of that name.
  EXPECT_EQ(ReadFileText(served), ReadFileText(alone));
  EXPECT_EQ(ReadFileText(served + ".gz"), ReadFileText(alone + ".gz"));
  const ProgramResult plain = daemon_.Cli({"result", job, "--kineto"});
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(plain.out, ReadGzipFile(alone + ".gz"));
  EXPECT_EQ(Parse(plain.out)["schemaVersion"], 1);
}

TEST_F(EndToEndTest, SamplesForTheTimelineAreAskedForWithTheJob) {
  const ProgramResult run = daemon_.Cli({"submit", "--trace", MakeTrace(daemon_, "mine", 2), "--set",
                                         "gpgpu_sm89_timeline_interval=500", "--wait", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  const std::string file = daemon_.File("timeline.json");
  const std::string job = Parse(run.out)["jobs"][0]["name"];
  ASSERT_EQ(daemon_.Cli({"result", job, "--kineto", file}).exit_code, 0);
  size_t kernels = 0, counters = 0;
  const Json trace = Parse(ReadFileText(file));
  for (const Json& event : trace["traceEvents"]) {
    kernels += event.value("cat", "") == "kernel" ? 1 : 0;
    counters += event["ph"] == "C" && event["name"] == "IPC" ? 1 : 0;
  }
  EXPECT_EQ(kernels, 2u);
  EXPECT_GE(counters, 2u);
}

TEST_F(EndToEndTest, OneCommandDoesItAll) {
  const ProgramResult run = daemon_.Cli({"submit", "--trace", MakeTrace(daemon_, "mine", 2), "--watch"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err << daemon_.log();
  EXPECT_THAT(run.out, HasSubstr("SUCCEEDED"));
  EXPECT_THAT(run.out, HasSubstr("mine"));
}

TEST_F(EndToEndTest, TheSameQuestionIsAnsweredFromTheCache) {
  const std::string trace = MakeTrace(daemon_, "mine", 2);
  const ProgramResult first = daemon_.Cli({"submit", "--trace", trace, "--wait", "--json"});
  ASSERT_EQ(first.exit_code, 0) << first.out << first.err;
  EXPECT_EQ(Parse(first.out)["jobs"][0]["result_from_cache"], false);
  const ProgramResult second = daemon_.Cli({"submit", "--trace", trace, "--wait", "--json"});
  ASSERT_EQ(second.exit_code, 0) << second.out << second.err;
  EXPECT_EQ(Parse(second.out)["jobs"][0]["result_from_cache"], true);
  EXPECT_EQ(Parse(second.out)["results"][0]["total_cycles"], Parse(first.out)["results"][0]["total_cycles"]);
}

TEST_F(EndToEndTest, ASweepPrintsOneRowAJob) {
  const ProgramResult run =
      daemon_.Cli({"submit", "--trace", MakeTrace(daemon_, "a", 1), "--trace", MakeTrace(daemon_, "b", 2),
                   "--config", "RTX4090", "--wait", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  ASSERT_EQ(Parse(run.out)["jobs"].size(), 2u);
  ASSERT_EQ(Parse(run.out)["results"].size(), 2u);
}

TEST_F(EndToEndTest, ALimitGivesAnIncompleteResultAndSaysSo) {
  const ProgramResult run = daemon_.Cli(
      {"submit", "--trace", MakeTrace(daemon_, "mine", 3), "--max-cycles", "7000", "--wait", "--json"});
  EXPECT_EQ(run.exit_code, 5) << run.out << run.err;
  const std::string job = Parse(run.out)["jobs"][0]["name"];
  const ProgramResult result = daemon_.Cli({"result", job});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(result.err, HasSubstr("not complete"));
}

TEST_F(EndToEndTest, ListsAndShowsEverything) {
  ASSERT_EQ(daemon_.Cli({"submit", "--trace", MakeTrace(daemon_, "mine", 1), "--name", "first", "--wait"})
                .exit_code,
            0);
  EXPECT_THAT(daemon_.Cli({"jobs"}).out, HasSubstr("first"));
  EXPECT_THAT(daemon_.Cli({"traces"}).out, HasSubstr("mine.tar.zst"));
  EXPECT_THAT(daemon_.Cli({"configs"}).out, HasSubstr("RTX4090"));
  EXPECT_THAT(daemon_.Cli({"configs", "show", "RTX4090"}).out, HasSubstr("gpgpu"));
  EXPECT_THAT(daemon_.Cli({"configs", "schema"}).out, HasSubstr("default:"));
  EXPECT_THAT(daemon_.Cli({"pool"}).out, HasSubstr("workers"));
  EXPECT_THAT(daemon_.Cli({"version"}).out, HasSubstr("server at"));
  const Json workers = Parse(daemon_.Cli({"pool", "workers", "--json"}).out);
  EXPECT_EQ(workers["workers"].size(), 2u);
  EXPECT_EQ(daemon_.Cli({"show", "nothing"}).exit_code, 3);
  EXPECT_EQ(daemon_.Cli({"result", "nothing"}).exit_code, 3);
}

TEST_F(EndToEndTest, BashCompletesConfigNames) {
  const std::string script =
      "export PATH=" + std::string(SM89_BIN_DIR) +
      ":$PATH; source <(sm89 completion bash); "
      "COMP_WORDS=(sm89 submit --config RTX); COMP_CWORD=3; _sm89; printf '%s\\n' \"${COMPREPLY[@]}\"";
  const ProgramResult run =
      RunProgram({"/bin/bash", "-c", script}, daemon_.File(""), {{"SM89_ADDRESS", daemon_.address()}});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("RTX4090\n"));
}

}  // namespace
}  // namespace sm89::testing
