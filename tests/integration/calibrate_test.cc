// `sm89 calibrate` against a real daemon. What "silicon" measured is a simulation with other settings, so
// that the right answer is known.
#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "tests/integration/service_test.h"

namespace sm89::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::ordered_json;

class CalibrateTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_TRUE(daemon_.Start());
  }

  // Three small kernels of the example, simulated with `sets` on top; the job's name.
  std::string Submit(const std::vector<std::string>& sets) const {
    std::vector<std::string> words = {"submit", "--trace", Example().string(), "--kernels", "4,5,6",
                                      "--wait", "--json"};
    for (const std::string& set : sets) words.insert(words.end(), {"--set", set});
    const ProgramResult submitted = daemon_.Cli(words, 300);
    EXPECT_EQ(submitted.exit_code, 0) << submitted.out << submitted.err << daemon_.log();
    return Json::parse(submitted.out)["jobs"][0]["name"];
  }
  Json Report(const std::string& job) const {
    const std::string path = daemon_.File("report.json");
    EXPECT_EQ(daemon_.Cli({"result", job, "--json", path}).exit_code, 0);
    return Json::parse(ReadFileText(path));
  }
  // A job's cycles as ncu prints them.
  std::string NcuCsv(const std::string& job) const {
    std::string text =
        "==PROF== Connected to process 1\n\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Metric "
        "Name\",\"Metric "
        "Unit\",\"Metric Value\"\n";
    int id = 0;
    const Json report = Report(job);
    for (const Json& kernel : report["kernels"]) {
      const auto triple = [&](const char* key) {
        const Json& d = kernel[key];
        return absl::StrCat("(", d[0].get<int>(), ", ", d[1].get<int>(), ", ", d[2].get<int>(), ")");
      };
      const auto cycles = kernel["cycles"].get<uint64_t>();
      absl::StrAppend(&text, "\"", id++, "\",\"", kernel["name"].get<std::string>(), "\",\"", triple("block"),
                      "\",\"", triple("grid"), "\",\"gpc__cycles_elapsed.max\",\"cycle\",\"", cycles / 1000,
                      ",", std::to_string(1000 + cycles % 1000).substr(1), "\"\n");
    }
    return text;
  }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(daemon_.File(name)) << text;
    return daemon_.File(name);
  }
  ProgramResult Calibrate(const std::string& measured, const std::string& job,
                          const std::vector<std::string>& more) {
    std::vector<std::string> words = {"calibrate", "--measured", measured, "--job", job};
    words.insert(words.end(), more.begin(), more.end());
    return daemon_.Cli(words, 600);
  }

  DaemonFixture daemon_;
};

TEST_F(CalibrateTest, AutoFindsAChangedParameterBack) {
  const std::string silicon = Submit({"gpgpu_sm89_l1i_miss_cycles=400", "gpgpu_n_mem=12"});
  const std::string measured = Write("ncu.csv", NcuCsv(silicon));
  const std::string job = Submit({"gpgpu_n_mem=12"});
  const std::string overlay = daemon_.File("fitted.cfg");
  const std::vector<std::string> options = {"--auto",
                                            "--tolerance",
                                            "0.2",
                                            "--parameter",
                                            "gpgpu_sm89_l1i_miss_cycles",
                                            "--parameter",
                                            "gpgpu_smem_latency",
                                            "--parameter",
                                            "gpgpu_sm89_barrier_cycles",
                                            "-o",
                                            overlay};
  std::vector<std::string> with_json = options;
  with_json.emplace_back("--json");
  const ProgramResult fitted = Calibrate(measured, job, with_json);
  ASSERT_EQ(fitted.exit_code, 0) << fitted.out << fitted.err << daemon_.log();
  const Json result = Json::parse(fitted.out);
  EXPECT_GT(result["start"]["fit"]["worst_percent"], 0.2);
  EXPECT_LE(result["end"]["fit"]["worst_percent"], 0.2);
  EXPECT_THAT(result["stopped"].get<std::string>(), HasSubstr("inside +/-0.2 %"));
  ASSERT_EQ(result["settings"].size(), 1u) << fitted.out;
  EXPECT_EQ(result["settings"][0]["name"], "-gpgpu_sm89_l1i_miss_cycles");
  EXPECT_NEAR(std::stoi(result["settings"][0]["value"].get<std::string>()), 400, 12);
  // The overlay is a configuration that gives these numbers.
  const std::string text = ReadFileText(overlay);
  EXPECT_THAT(text, HasSubstr("-include RTX4090\n"));
  EXPECT_THAT(text, HasSubstr("-gpgpu_n_mem 12\n"));
  EXPECT_THAT(text, HasSubstr("# 1. -gpgpu_sm89_l1i_miss_cycles 240 -> "));
  const ProgramResult again = daemon_.Cli({"submit", "--trace", Example().string(), "--kernels", "4,5,6",
                                           "--config", overlay, "--wait", "--json"},
                                          300);
  ASSERT_EQ(again.exit_code, 0) << again.out << again.err;
  const Json kernels = Report(Json::parse(again.out)["jobs"][0]["name"])["kernels"];
  for (const Json& row : result["end"]["rows"]) {
    if (row["metric"] != "gpc__cycles_elapsed.max") continue;
    const size_t kernel = row["kernel"].get<size_t>() - 1;
    EXPECT_EQ(row["simulated"].get<double>(), kernels[kernel]["cycles"].get<double>());
  }
  // Without a server: the same tables but for where the simulation came from.
  const ProgramResult served = Calibrate(measured, job, options);
  const ProgramResult alone = RunProgram(
      {DaemonFixture::Program("sm89-sim"), "--trace", Example().string(), "--kernels", "4,5,6", "--set",
       "gpgpu_n_mem=12", "--calibrate", measured, "--calibrate-auto", "--calibrate-tolerance", "0.2",
       "--calibrate-parameter", "gpgpu_sm89_l1i_miss_cycles", "--calibrate-parameter", "gpgpu_smem_latency",
       "--calibrate-parameter", "gpgpu_sm89_barrier_cycles"},
      daemon_.File(""), {}, 600);
  EXPECT_EQ(alone.exit_code, 0) << alone.err;
  const auto from_pairs = [](const std::string& out) { return out.substr(out.find("\npaired ")); };
  EXPECT_EQ(from_pairs(alone.out), from_pairs(served.out));
}

TEST_F(CalibrateTest, SuggestsOneChangeAndReportsHeldOutKernels) {
  const std::string silicon = Submit({"gpgpu_kernel_launch_latency=4000"});
  std::string csv = NcuCsv(silicon);
  const Json kernels = Report(silicon)["kernels"];
  const std::string job = Submit({});
  const ProgramResult shown =
      Calibrate(Write("ncu.csv", csv), job,
                {"--hold-out", kernels[0]["name"], "--parameter", "gpgpu_kernel_launch_latency=3500:6000",
                 "--parameter", "gpgpu_smem_latency"});
  ASSERT_EQ(shown.exit_code, 0) << shown.out << shown.err;
  EXPECT_THAT(
      shown.out,
      HasSubstr("suggested next change: lower -gpgpu_kernel_launch_latency from 5000 to 4000 cycles"));
  EXPECT_THAT(shown.out, HasSubstr("held out, no part of the fit:"));
  EXPECT_THAT(shown.out, HasSubstr("paired     3\n"));
}

TEST_F(CalibrateTest, MistakesSayWhatIsWrong) {
  const std::string job = Submit({});
  const std::string csv = Write("ncu.csv", NcuCsv(job));
  EXPECT_EQ(Calibrate(daemon_.File("absent.csv"), job, {}).exit_code, 3);
  EXPECT_EQ(Calibrate(csv, "jobs/absent", {}).exit_code, 3);
  const ProgramResult parameter = Calibrate(csv, job, {"--parameter", "gpgpu_no_such"});
  EXPECT_EQ(parameter.exit_code, 3);
  EXPECT_THAT(parameter.err, HasSubstr("-gpgpu_no_such"));
  const ProgramResult bounds = Calibrate(csv, job, {"--parameter", "gpgpu_l1_latency=0:50"});
  EXPECT_EQ(bounds.exit_code, 2);
  EXPECT_THAT(bounds.err, HasSubstr("range"));
  const ProgramResult empty =
      Calibrate(Write("empty.csv", "==ERROR== ERR_NVGPUCTRPERM - no permission\n"), job, {});
  EXPECT_EQ(empty.exit_code, 2);
  EXPECT_THAT(empty.err, HasSubstr("ERR_NVGPUCTRPERM"));
  const ProgramResult names =
      Calibrate(Write("other.csv",
                      "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"gpc__cycles_elapsed.max\"\n"
                      "\"0\",\"other\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"5\"\n"),
                job, {});
  EXPECT_EQ(names.exit_code, 2);
  EXPECT_THAT(names.err, HasSubstr("other"));
}

}  // namespace
}  // namespace sm89::testing
