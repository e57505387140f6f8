// Calibration without a server: sm89-sim --calibrate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "sim/tools/exit_codes.h"
#include "sim/tools/sim_command.h"
#include "tests/support/expect_file.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/sim_tools/run_sim.h"

namespace sm89 {
namespace {

namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using testing::Outcome;
using testing::Sim;
using testing::SplitFact;

constexpr char kExample[] = SM89_SOURCE_DIR "/deploy/example";
constexpr char kMeasured[] = SM89_SOURCE_DIR "/tests/data/calibrate/ncu.csv";

Outcome Calibrate(std::vector<std::string> more) {
  std::vector<std::string> args = {"--trace", kExample, "--kernels", "4,5,6", "--calibrate", kMeasured};
  args.insert(args.end(), more.begin(), more.end());
  return Sim(args);
}

// The case's own trace: launches pair by demangled name, grid and block, never by position.
TEST(SimCalibrate, CaseMatchByName55) {
  const std::string folder = SM89_SOURCE_DIR "/../shared/cases/55-match-by-name";
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " is absent";
  auto expect = testing::ReadExpect(folder + "/expect.txt");
  const Outcome shown = Sim({"--trace", folder, "--calibrate", folder + "/ncu.csv", "--calibrate-parameter",
                             "gpgpu_kernel_launch_latency"});
  ASSERT_EQ(shown.code, kExitOk) << shown.err;
  const std::vector<std::string> cycles = SplitFact(expect["measured_cycles"]);
  const std::vector<std::string> names = {"_Z7row_sumPfi", "_Z7col_sumPfi", "_Z7row_sumPfi"};
  ASSERT_EQ(cycles.size(), names.size());
  for (size_t i = 0; i < cycles.size(); ++i) {
    EXPECT_THAT(shown.out, ContainsRegex(absl::StrCat("  ", i + 1, " ", names[i],
                                                      " +\\* gpc__cycles_elapsed.max +", cycles[i], " ")));
  }
  EXPECT_THAT(shown.out, HasSubstr("paired     3\n"));
}

TEST(SimCalibrate, TheOverlayIsAConfigurationThatFits) {
  const testing::TempDir folder;
  const std::string overlay = folder.File("fitted.cfg");
  const Outcome fitted = Calibrate({"--calibrate-auto", "--calibrate-parameter",
                                    "gpgpu_kernel_launch_latency", "--calibrate-output", overlay});
  ASSERT_EQ(fitted.code, kExitOk) << fitted.err;
  EXPECT_THAT(fitted.out, HasSubstr("\n  1. -gpgpu_kernel_launch_latency 5000 -> "));
  const Outcome again = Sim({"--trace", kExample, "--kernels", "4,5,6", "--config", overlay, "--calibrate",
                             kMeasured, "--calibrate-parameter", "gpgpu_kernel_launch_latency"});
  ASSERT_EQ(again.code, kExitOk) << again.err;
  // The fit that the calibration ended with is the one that the overlay starts with.
  const size_t at = fitted.out.find("\nfit: ");
  const std::string fit = fitted.out.substr(at, fitted.out.find('\n', at + 1) - at);
  EXPECT_THAT(again.out, HasSubstr(fit));
}

TEST(SimCalibrate, OptionsThatDoNotGoTogetherAreRefused) {
  EXPECT_EQ(Calibrate({"--json", "-"}).code, kExitBadInput);
  EXPECT_EQ(Calibrate({"--baseline-record", "x.json"}).code, kExitBadInput);
  EXPECT_EQ(Calibrate({"--calibrate-parameter", "gpgpu_sm89_name"}).code, kExitBadInput);
  EXPECT_EQ(Calibrate({"--calibrate-hold-out", "absent"}).code, kExitBadInput);
  EXPECT_EQ(Calibrate({"--calibrate-tolerance", "-1"}).code, kExitBadInput);
  EXPECT_EQ(Calibrate({"--calibrate-metric", "absent"}).code, kExitBadInput);
}

}  // namespace
}  // namespace sm89
