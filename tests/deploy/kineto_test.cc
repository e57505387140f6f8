// Timelines as users make and merge them: the example of client/README.md, and what PyTorch's own tools say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/deploy/command.h"
#include "tests/support/daemon_fixture.h"
#include "tests/support/gzip_file.h"

namespace sm89 {
namespace {

using testing::CommandResult;
using ::testing::Contains;
using testing::DaemonFixture;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ReadGzipFile;
using testing::RunCommand;
using Json = nlohmann::json;

const std::string kSource = SM89_SOURCE_DIR;

// The section's block of commands and what one of them prints.
struct Example {
  std::string commands;
  std::string printed;
};

Example TimelineExample() {
  Example example;
  std::ifstream in(kSource + "/client/README.md");
  std::string* block = nullptr;
  bool section = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("## ")) section = line == "## Timelines";
    if (!section) continue;
    if (line.starts_with("```")) {
      block = block != nullptr ? nullptr : line == "```sh" ? &example.commands : &example.printed;
    } else if (block != nullptr) {
      *block += line + "\n";
    }
  }
  return example;
}

std::string Python() {
  const char* const named = std::getenv("SM89_PYTHON");
  return named != nullptr ? named : "python3";
}

bool CanImport(const std::string& module) {
  return RunCommand(Python() + " -c 'import " + module + "'").exit_code == 0;
}

class KinetoTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(DaemonFixture::Available()) << "the programs are not built in " << SM89_BIN_DIR;
    ASSERT_TRUE(daemon_.Start());
    std::filesystem::create_directories(folder_);
    std::filesystem::create_directory_symlink(kSource + "/tests", folder_ + "/tests");
  }

  // As lines of a shell in a folder that looks like the working copy's.
  CommandResult Run(const std::string& lines) {
    const std::string path = daemon_.File("script");
    std::ofstream(path) << "set -euo pipefail\nexport PATH=" << SM89_BIN_DIR
                        << ":$PATH K=tests/data/kernels\n"
                        << lines;
    return RunCommand("cd " + folder_ + " && SM89_ADDRESS=" + daemon_.address() + " HOME=" + folder_ +
                      " XDG_STATE_HOME= XDG_CONFIG_HOME= bash " + path);
  }

  Json Trace(const std::string& name) {
    Json trace = Json::parse(ReadGzipFile(folder_ + "/" + name), nullptr, false);
    EXPECT_FALSE(trace.is_discarded()) << name;
    return trace;
  }

  // What hta_check.py says of a merged trace.
  Json Hta(const std::string& name) {
    const CommandResult result = Run(Python() + " tests/kineto/hta_check.py " + name +
                                     " 2>hta.log | tail -n 1 || { cat hta.log; exit 1; }");
    EXPECT_EQ(result.exit_code, 0) << result.output;
    Json said = Json::parse(result.output, nullptr, false);
    EXPECT_FALSE(said.is_discarded()) << result.output;
    return said;
  }

  static std::vector<Json> OfCategory(const Json& trace, const std::string& category) {
    std::vector<Json> events;
    for (const Json& event : trace["traceEvents"]) {
      if (event.value("cat", "") == category) events.push_back(event);
    }
    return events;
  }

  DaemonFixture daemon_;
  const std::string folder_ = daemon_.File("copy");
};

TEST_F(KinetoTest, TheExampleOfTheManualWorks) {
  const Example example = TimelineExample();
  ASSERT_THAT(example.commands, HasSubstr("kineto-merge"));
  ASSERT_THAT(example.printed, HasSubstr("matched"));
  const CommandResult result = Run(example.commands);
  ASSERT_EQ(result.exit_code, 0) << result.output << daemon_.log();
  EXPECT_THAT(result.output, HasSubstr(example.printed));

  const Json merged = Trace("merged.json.gz");
  EXPECT_EQ(OfCategory(merged, "kernel").size(), 80u + 7);
  size_t counters = 0;
  for (const Json& event : merged["traceEvents"]) counters += event["ph"] == "C" ? 1 : 0;
  EXPECT_GT(counters, 7u * 4) << "tracks of every kernel";
  EXPECT_EQ(OfCategory(Trace("for_hta.json.gz"), "kernel").size(), 80u);
  const Json report = Json::parse(ReadGzipFile(folder_ + "/report.json"), nullptr, false);
  EXPECT_EQ(report["pairs"]["count"], 7);
  EXPECT_EQ(report["launches_without_simulation"]["count"], 73);

  const CommandResult json =
      Run("sm89 --json kineto-merge tests/kineto/host_profile.json.gz suite.json.gz -o again.json.gz");
  EXPECT_EQ(Json::parse(json.output, nullptr, false), report);
  EXPECT_EQ(ReadGzipFile(folder_ + "/again.json.gz"), ReadGzipFile(folder_ + "/merged.json.gz"));
}

TEST_F(KinetoTest, MistakesAreToldBeforeAnythingIsWritten) {
  const std::string host = "tests/kineto/host_profile.json.gz";
  const CommandResult same =
      Run("cp " + host + " h.json.gz; sm89 kineto-merge h.json.gz h.json.gz -o h.json.gz");
  EXPECT_EQ(same.exit_code, 2);
  EXPECT_THAT(same.output, HasSubstr("h.json.gz is an input"));
  const CommandResult swapped = Run("sm89 kineto-merge " + host + " " + host + " -o out.json");
  EXPECT_EQ(swapped.exit_code, 2);
  EXPECT_THAT(swapped.output, HasSubstr("not a timeline of this simulator"));
  EXPECT_EQ(Run("sm89 kineto-merge none.json " + host + " -o out.json").exit_code, 3);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/out.json"));
}

TEST_F(KinetoTest, ALaunchThatIsNotThereGivesExitCode5) {
  const CommandResult result = Run(
      "sm89-sim --cubin $K/vector_add.sm_89.cubin --launch $K/vector_add.json --kineto one.json >/dev/null\n"
      "sm89 kineto-merge tests/kineto/host_profile_cpu.json.gz one.json -o out.json");
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(result.output, HasSubstr("simulated kernels without a launch in the profile: 1"));
  EXPECT_EQ(OfCategory(Trace("out.json"), "kernel").size(), 1u);
}

TEST_F(KinetoTest, HolisticTraceAnalysisReadsTheMergedTrace) {
  if (!CanImport("hta")) {
    GTEST_SKIP() << Python()
                 << " cannot import hta (pip install HolisticTraceAnalysis; SM89_PYTHON names another)";
  }
  const CommandResult made =
      Run("sm89-sim --suite $K/suite.json --cubin-dir $K --kineto suite.json.gz "
          "--set gpgpu_sm89_timeline_interval=500 >/dev/null\n"
          "for option in '' --replace; do sm89 kineto-merge tests/kineto/host_profile.json.gz suite.json.gz "
          "$option "
          "-o \"merged$option.json.gz\"; done");
  ASSERT_EQ(made.exit_code, 0) << made.output;
  double simulated_us = 0;
  for (const Json& kernel : OfCategory(Trace("suite.json.gz"), "kernel"))
    simulated_us += kernel["dur"].get<double>();

  const Json beside = Hta("merged.json.gz");
  EXPECT_EQ(beside["kernels"], 87);
  EXPECT_THAT(beside["devices"], ElementsAre(0, 16));
  EXPECT_EQ(beside["kernels_with_launch"], 87);
  const Json replaced = Hta("merged--replace.json.gz");
  EXPECT_EQ(replaced["kernels"], 80);
  EXPECT_EQ(replaced["kernels_with_launch"], 80);
  EXPECT_THAT(replaced["launchers"], Contains("cudaLaunchKernel"));
  EXPECT_THAT(replaced["steps"], ElementsAre(0, 1));
  EXPECT_THAT(replaced["kernel_names"], Contains("tensor_gemm"));
  EXPECT_GT(replaced["launch_rows"].get<int>(), 70);
  EXPECT_GT(replaced["compute_us"].get<double>(), simulated_us * 0.8) << "HTA rounds to whole microseconds";
}

TEST_F(KinetoTest, AProfileMadeNowIsMergedToo) {
  if (!CanImport("torch")) {
    GTEST_SKIP() << Python() << " cannot import torch (SM89_PYTHON names another)";
  }
  const CommandResult made = Run(
      Python() +
      " tests/kineto/host_profile.py live.json.gz\n"
      "sm89-sim --suite $K/suite.json --cubin-dir $K --kineto suite.json.gz >/dev/null\n"
      "sm89 kineto-merge live.json.gz suite.json.gz -o merged.json.gz --report report.json || [ $? = 5 ]");
  ASSERT_EQ(made.exit_code, 0) << made.output;
  const Json report = Json::parse(ReadGzipFile(folder_ + "/report.json"), nullptr, false);
  const bool gpu = report["host"]["kernels"] != 0;
  EXPECT_EQ(report["pairs"]["count"], gpu ? 7 : 0);
  EXPECT_EQ(report["simulated_without_launch"]["count"], gpu ? 0 : 7);
  EXPECT_GT(report["host"]["events"], 50);
  EXPECT_GE(OfCategory(Trace("merged.json.gz"), "kernel").size(), 7u);
}

}  // namespace
}  // namespace sm89
