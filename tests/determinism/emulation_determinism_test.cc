// Executing machine code while it is simulated gives the same bytes over runs, threads, and slices of
// Advance: what a CTA computes and which addresses it touches do not depend on when the timing model asks for
// it.
#include <gtest/gtest.h>

#include "tests/support/example_kernels.h"

namespace sm89 {
namespace {

class EmulationDeterminism : public ::testing::TestWithParam<std::string> {
 protected:
  static std::string Json(uint32_t threads, uint64_t slice) {
    const auto run = testing::RunExampleKernel(GetParam(), threads, slice);
    EXPECT_TRUE(run.ok()) << run.status();
    return run.ok() ? ReportToJson(run->report) : "";
  }
};

TEST_P(EmulationDeterminism, SameBytesOverRunsThreadsAndSlices) {
  const std::string reference = Json(1, 1'000'000);
  EXPECT_NE(reference.find("\"sha256\""), std::string::npos) << "outputs are part of the report";
  EXPECT_NE(reference.find("\"complete\": true"), std::string::npos);
  EXPECT_EQ(Json(1, 1'000'000), reference);
  EXPECT_EQ(Json(2, 1'000'000), reference);
  EXPECT_EQ(Json(3, 1), reference) << "one window at a time";
  EXPECT_EQ(Json(1, 777), reference);
}

// The one whose last CTA reads what the others wrote, one with data-dependent branches, one with shared
// atomics.
INSTANTIATE_TEST_SUITE_P(Kernels, EmulationDeterminism,
                         ::testing::Values("reduction", "divergent", "histogram"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace sm89
