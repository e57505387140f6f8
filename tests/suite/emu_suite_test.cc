// The silicon suite's launches give on the emulator what a GPU gave: the sm_90 code its own bytes, the sm_89
// code the same ones.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/suite/emu_fixture.h"

namespace sm89 {
namespace {

class EmuSuite : public testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    if (!HaveSilicon()) GTEST_SKIP() << "no ../shared/silicon next to the repository";
    auto file = launch::ReadLaunches(SiliconFolder() + "/suite.json");
    ASSERT_TRUE(file.ok()) << file.status();
    launches_ = *std::move(file);
    auto references = launch::ParseReference(ReadSiliconFile("measured/h200_runs.json"), "h200_runs.json");
    ASSERT_TRUE(references.ok()) << references.status();
    for (launch::ReferenceCase& r : *references) references_[r.id] = std::move(r);
  }

  // Runs `launch` and compares what it left with the recording.
  void Check(const launch::LaunchSpec& launch) {
    SCOPED_TRACE(launch.id);
    const auto module = modules_.Get(launch.module, GetParam());
    ASSERT_TRUE(module.ok()) << module.status();
    auto emulator = emu::Emulator::Create(**module, launch, {});
    ASSERT_TRUE(emulator.ok()) << emulator.status();
    const absl::Status run = (*emulator)->RunAll(nullptr);
    ASSERT_TRUE(run.ok()) << run;
    EXPECT_EQ((*emulator)->num_findings(), 0u) << (*emulator)->findings().front().message;
    const auto reference = references_.find(launch.id);
    ASSERT_NE(reference, references_.end());
    const absl::Status same =
        launch::CompareWithReference(ResultOf(**emulator, launch), launch.compare, reference->second);
    EXPECT_TRUE(same.ok()) << same;
    ++compared_;
  }

  void CheckAll(launch::Compare compare) {
    for (const launch::LaunchSpec& launch : launches_.launches) {
      if (launch.compare == compare) Check(launch);
    }
  }

  launch::LaunchFile launches_;
  std::map<std::string, launch::ReferenceCase> references_;
  SiliconModules modules_;
  int compared_ = 0;
};

TEST_P(EmuSuite, ExactCasesGiveTheRecordedBytes) {
  CheckAll(launch::Compare::kExact);
  EXPECT_EQ(compared_, 24);
}

TEST_P(EmuSuite, ApproximateCasesStayWithinTheBound) {
  CheckAll(launch::Compare::kApprox);
  EXPECT_EQ(compared_, 5);
}

INSTANTIATE_TEST_SUITE_P(Arch, EmuSuite, testing::Values(89u, 90u),
                         [](const auto& p) { return "sm_" + std::to_string(p.param); });

}  // namespace
}  // namespace sm89
