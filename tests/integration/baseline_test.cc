// `sm89 baseline` against a real daemon.
#include <gmock/gmock.h>

#include "nlohmann/json.hpp"
#include "tests/integration/service_test.h"

namespace sm89::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

class BaselineTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_TRUE(daemon_.Start());
    trace_ = MakeTrace(daemon_, "mine", 2);
  }
  ProgramResult Record(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"baseline", "record", file_};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult recorded = daemon_.Cli(words, 300);
    EXPECT_EQ(recorded.exit_code, 0) << recorded.out << recorded.err << daemon_.log();
    return recorded;
  }
  ProgramResult Check(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"baseline", "check", file_};
    words.insert(words.end(), more.begin(), more.end());
    return daemon_.Cli(words, 300);
  }
  Json Read() const { return Json::parse(ReadFileText(file_)); }
  void Write(const Json& json) const { std::ofstream(file_) << json.dump(); }

  DaemonFixture daemon_;
  std::string trace_;
  const std::string file_ = daemon_.File("baseline.json");
};

TEST_F(BaselineTest, RecordsAndChecksTracesProgramsAndConfigurations) {
  const std::string kernel = std::string(SM89_SOURCE_DIR) + "/tests/data/kernels/vector_add";
  std::ofstream(daemon_.File("mine.cfg")) << "-include RTX4090\n-gpgpu_l1_latency 50\n";
  const ProgramResult recorded =
      Record({"--trace", trace_, "--cubin", kernel + ".sm_89.cubin", "--launch", kernel + ".json", "--config",
              "RTX4090", "--config", daemon_.File("mine.cfg"), "--set", "gpgpu_n_mem=12", "--json"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.out << recorded.err << daemon_.log();
  EXPECT_EQ(Json::parse(recorded.out)["runs"].size(), 4u);
  ASSERT_EQ(Read()["runs"].size(), 4u);
  EXPECT_EQ(Read()["runs"][0]["question"]["trace"], trace_);  // given as an absolute path
  EXPECT_EQ(Read()["runs"][0]["kernels"].size(), 2u);
  const ProgramResult check = Check({"--no-cache"});
  EXPECT_EQ(check.exit_code, 0) << check.out << check.err;
  EXPECT_THAT(check.out, HasSubstr("1 vector_add cycles"));
  // The same file without the server.
  const ProgramResult alone =
      RunProgram({DaemonFixture::Program("sm89-sim"), "--baseline-check", file_}, daemon_.File(""), {}, 300);
  EXPECT_EQ(alone.exit_code, 0) << alone.out << alone.err;
  EXPECT_EQ(alone.out, check.out);
}

TEST_F(BaselineTest, OutsideTheBandIsExitCode1AndATable) {
  ASSERT_EQ(Record({"--trace", trace_, "--band", "3"}).exit_code, 0);
  Json file = Read();
  const uint64_t cycles = file["runs"][0]["kernels"][1]["cycles"];
  file["runs"][0]["kernels"][1]["cycles"] = cycles - cycles / 20;
  Write(file);
  const ProgramResult check = Check();
  EXPECT_EQ(check.exit_code, 1) << check.err;
  EXPECT_THAT(check.out, HasSubstr("1 outside +/-3 %"));
  EXPECT_THAT(check.out, HasSubstr("OUT"));
  const ProgramResult json = Check({"--json"});
  EXPECT_EQ(json.exit_code, 1);
  EXPECT_EQ(Json::parse(json.out)["in_band"], false);
  EXPECT_EQ(Json::parse(json.out)["runs"][0]["rows"][1]["in_band"], false);
  EXPECT_EQ(Check({"--band", "10"}).exit_code, 0);
}

TEST_F(BaselineTest, WhatCannotBeComparedIsExitCode2AndSaysWhy) {
  ASSERT_EQ(Record({"--trace", trace_}).exit_code, 0);
  const Json good = Read();
  Json other = good;
  other["runs"][0]["kernels"].erase(1);
  Write(other);
  EXPECT_EQ(Check().exit_code, 2);
  EXPECT_THAT(Check().out, HasSubstr("kernel list has changed"));
  other = good;
  other["runs"][0]["question"]["settings"] = {{{"name", "gpgpu_l1_latency"}, {"value", "99"}}};
  Write(other);
  EXPECT_EQ(Check().exit_code, 2);
  EXPECT_THAT(Check().out, HasSubstr("the configuration is another"));
  EXPECT_NE(Check({"--allow-changes"}).exit_code, 2);
  other = good;
  other["runs"][0]["question"]["trace"] = "absent";
  Write(other);
  EXPECT_EQ(Check().exit_code, 2);
  EXPECT_THAT(Check().out, HasSubstr("is missing"));
  other = good;
  other["runs"][0]["question"]["sass"] = {"k.cubin"};
  Write(other);
  EXPECT_EQ(Check().exit_code, 2);
  EXPECT_THAT(Check().out, HasSubstr("--sass"));
  std::ofstream(file_) << "{";
  const ProgramResult broken = Check();
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_THAT(broken.err, HasSubstr("baseline.json:1"));
}

TEST_F(BaselineTest, AnAbsentFileOrServerSaysSo) {
  EXPECT_EQ(Check().exit_code, 3);
  ASSERT_EQ(Record({"--trace", trace_}).exit_code, 0);
  ASSERT_TRUE(daemon_.Stop());
  EXPECT_EQ(Check().exit_code, 4);
}

}  // namespace
}  // namespace sm89::testing
