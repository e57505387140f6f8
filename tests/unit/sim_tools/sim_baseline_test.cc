// Baselines without a server: sm89-sim --baseline-record and --baseline-check.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/tools/exit_codes.h"
#include "sim/tools/sim_command.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/sim_tools/run_sim.h"

namespace sm89 {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::Outcome;
using testing::Sim;

constexpr char kExample[] = SM89_SOURCE_DIR "/deploy/example";

class SimBaselineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::copy(kExample, trace_, fs::copy_options::recursive);
    ASSERT_EQ(Record({}).code, kExitOk);
  }
  Outcome Record(std::vector<std::string> more) const {
    std::vector<std::string> args = {"--trace", trace_, "--kernels", "5", "--baseline-record", file_};
    args.insert(args.end(), more.begin(), more.end());
    return Sim(args);
  }
  std::string Text() const {
    std::ostringstream text;
    text << std::ifstream(file_).rdbuf();
    return text.str();
  }
  void Replace(const std::string& old, const std::string& now) const {
    std::string text = Text();
    ASSERT_NE(text.find(old), std::string::npos) << text;
    text.replace(text.find(old), old.size(), now);
    std::ofstream(file_) << text;
  }

  testing::TempDir folder_;
  const std::string trace_ = folder_.File("trace");
  const std::string file_ = folder_.File("baseline.json");
};

TEST_F(SimBaselineTest, TheSameRunsAreInBand) {
  ASSERT_EQ(Record({"--set", "gpgpu_l1_latency=60", "--baseline-band", "1"}).code, kExitOk);
  const Outcome check = Sim({"--baseline-check", file_});
  EXPECT_EQ(check.code, kExitOk) << check.out << check.err;
  EXPECT_THAT(check.out, HasSubstr("1 kernel, all in +/-15 %"));
  EXPECT_THAT(check.out, HasSubstr("gpgpu_l1_latency=60 kernels 5: 1 kernel, all in +/-1 %"));
}

TEST_F(SimBaselineTest, AChangedCycleCountIsCode1WithTheTable) {
  const size_t at = Text().find("\"cycles\":");
  Replace(Text().substr(at, Text().find('}', at) - at), "\"cycles\":100");
  const Outcome check = Sim({"--baseline-check", file_});
  EXPECT_EQ(check.code, kExitOutOfBand) << check.out << check.err;
  EXPECT_THAT(check.out, ::testing::ContainsRegex("cycles +100 +[0-9]+ +\\+[0-9.]+  OUT"));
  EXPECT_EQ(Sim({"--baseline-check", file_, "--baseline-band", "1000000"}).code, kExitBadInput);
}

TEST_F(SimBaselineTest, ChangesOfWhatIsSimulatedAreCode2) {
  Replace("\"name\":\"", "\"name\":\"x");
  const Outcome kernels = Sim({"--baseline-check", file_});
  EXPECT_EQ(kernels.code, kExitBadInput);
  EXPECT_THAT(kernels.out, HasSubstr("kernel list has changed"));
  ASSERT_EQ(Record({}).code, kExitOk);
  Replace("\"config\":\"RTX4090\"", "\"config\":\"H200\"");
  const Outcome config = Sim({"--baseline-check", file_});
  EXPECT_EQ(config.code, kExitBadInput);
  EXPECT_THAT(config.out, HasSubstr("the configuration is another than the recorded one"));
  EXPECT_NE(Sim({"--baseline-check", file_, "--baseline-allow-changes"}).code, kExitBadInput);
  fs::remove_all(trace_);
  const Outcome missing = Sim({"--baseline-check", file_});
  EXPECT_EQ(missing.code, kExitBadInput);
  EXPECT_THAT(missing.out, HasSubstr("the trace is missing"));
}

TEST_F(SimBaselineTest, ProgramsAreRecordedToo) {
  const std::string kernel = SM89_SOURCE_DIR "/tests/data/kernels/vector_add";
  ASSERT_EQ(
      Sim({"--cubin", kernel + ".sm_89.cubin", "--launch", kernel + ".json", "--baseline-record", file_})
          .code,
      kExitOk);
  const Outcome check = Sim({"--baseline-check", file_});
  EXPECT_EQ(check.code, kExitOk) << check.out << check.err;
  EXPECT_THAT(check.out, HasSubstr("1 vector_add cycles"));
}

TEST_F(SimBaselineTest, OptionsThatDoNotGoTogetherAreRefused) {
  EXPECT_EQ(Sim({"--baseline-check", file_, "--trace", trace_}).code, kExitBadInput);
  EXPECT_EQ(Sim({"--baseline-check", folder_.File("absent.json")}).code, kExitBadInput);
  const Outcome nowhere = Sim({"--trace", trace_, "--baseline-record", folder_.File("none/b.json"), "--json",
                               folder_.File("report.json")});
  EXPECT_EQ(nowhere.code, kExitBadInput);
  EXPECT_THAT(nowhere.err, HasSubstr("a folder that exists"));
  EXPECT_FALSE(fs::exists(folder_.File("report.json"))) << "it was simulated before the file was looked at";
  const Outcome cut = Record({"--max-cycles", "500"});
  EXPECT_EQ(cut.code, kExitBadInput);
  EXPECT_THAT(cut.err, HasSubstr("did not reach its end"));
}

}  // namespace
}  // namespace sm89
