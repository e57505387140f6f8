// Partial barriers whose counts a trace does not tell, and what the watchdog says of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/trace_builder.h"

namespace sm89 {
namespace {

using ::testing::HasSubstr;
using testing::KernelScript;
using ::testing::Not;
using testing::WarpScript;

// Two barriers of 64 threads each for the halves of a CTA of 128. Machine code as ptxas gives it:
// BAR.SYNC.DEFER_BLOCKING 0x1, 0x40 and the same of barrier 2.
KernelScript Halves(bool encoded) {
  KernelScript kernel;
  kernel.info.name = "halves";
  kernel.info.block = {128, 1, 1};
  kernel.warp = [encoded](uint32_t, uint32_t warp) {
    WarpScript s;
    const bool second = warp >= 2;
    s.At(second ? 0x100 : 0).Op("BAR.SYNC.DEFER_BLOCKING", {}, {}, ~LaneMask{0}, second ? 2 : 1);
    if (encoded) s.Encoded(second ? 0x0081000000007b1d : 0x0041000000007b1d, 0x000fec0000010000);
    s.Op("EXIT");
    return encoded ? s.Encoded(0x000000000000794d, 0x000fea0003800000) : s;
  };
  return kernel;
}

TEST(PartialBarriers, AreSaidToNeedTheCodeWhenTheWatchdogFires) {
  const RunReport report = testing::Simulate(testing::WriteTrace({Halves(false)}), testing::TestConfig());
  ASSERT_EQ(report.status, RunStatus::kDeadlock);
  const std::string first = report.status_detail.substr(0, report.status_detail.find('\n'));
  EXPECT_THAT(first, HasSubstr("4 resident warps: barrier 4"));
  EXPECT_THAT(first, HasSubstr("which barriers of kernel 'halves' are for a part of the CTA"));
  EXPECT_THAT(first, HasSubstr("with --sass"));
  EXPECT_THAT(report.status_detail, HasSubstr("barrier 1 has 2 of 4 warps"));
}

TEST(PartialBarriers, AreWarnedOfInTheReport) {
  const RunReport report = testing::Simulate(testing::WriteTrace({Halves(false)}), testing::TestConfig());
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_EQ(report.warnings[0].kind, "barrier_counts_unknown");
  EXPECT_THAT(report.warnings[0].message, HasSubstr("1 kernel (halves) with several barriers"));
  EXPECT_THAT(report.warnings[0].message, HasSubstr("--sass"));
}

TEST(PartialBarriers, MeetByTheCountsOfMachineCode) {
  const RunReport report = testing::Simulate(testing::WriteTrace({Halves(true)}), testing::TestConfig());
  EXPECT_EQ(report.status, RunStatus::kComplete) << report.status_detail;
  EXPECT_TRUE(report.warnings.empty());
}

RunReport RunBarriers(const std::vector<std::pair<std::string, int64_t>>& barriers) {
  KernelScript kernel;
  kernel.info.block = {64, 1, 1};
  kernel.warp = [&](uint32_t, uint32_t) {
    WarpScript s;
    for (const auto& [opcode, number] : barriers) s.Op(opcode, {}, {}, ~LaneMask{0}, number);
    return s.Op("EXIT");
  };
  return testing::Simulate(testing::WriteTrace({kernel}), testing::TestConfig());
}

TEST(PartialBarriers, OnlyWhatCanMatterIsWarnedOf) {
  const auto warns = [](const std::vector<std::pair<std::string, int64_t>>& barriers) {
    const RunReport report = RunBarriers(barriers);
    EXPECT_EQ(report.status, RunStatus::kComplete) << report.status_detail;
    return !report.warnings.empty();
  };
  EXPECT_FALSE(warns({{"BAR.SYNC", 0}, {"BAR.SYNC", 0}, {"BAR.RED.POPC", 0}})) << "__syncthreads";
  EXPECT_FALSE(warns({{"BAR.SYNC", 64}})) << "one barrier: its number does not matter";
  EXPECT_TRUE(warns({{"BAR.SYNC", 1}, {"BAR.SYNC", 2}}));
  EXPECT_TRUE(warns({{"BAR.ARV", 0}, {"BAR.SYNC", 0}}));
  EXPECT_TRUE(warns({{"BAR.SYNC", 64}, {"BAR.SYNC", 64}})) << "counts without the barriers' numbers";
}

TEST(Watchdog, OtherStandstillsGetNoHint) {
  // A barrier of 256 threads in a CTA of 64.
  const RunReport report = RunBarriers({{"BAR.SYNC", 256}});
  ASSERT_EQ(report.status, RunStatus::kDeadlock);
  EXPECT_THAT(report.status_detail, HasSubstr("2 resident warps: barrier 2"));
  KernelScript kernel = Halves(true);
  kernel.info.block = {96, 1, 1};  // half of the second half is missing
  const RunReport code = testing::Simulate(testing::WriteTrace({kernel}), testing::TestConfig());
  ASSERT_EQ(code.status, RunStatus::kDeadlock);
  EXPECT_THAT(code.status_detail, Not(HasSubstr("--sass")));
}

}  // namespace
}  // namespace sm89
