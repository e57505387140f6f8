// The profile of a simulated run: asked for, bounded, the kernels' own rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/base/fault.h"
#include "tests/support/trace_builder.h"

namespace sm89 {
namespace {

using ::testing::HasSubstr;
using testing::KernelScript;
using testing::Simulate;
using testing::TestConfig;
using testing::WarpScript;
using testing::WriteTrace;

KernelScript Kernel(uint32_t instructions) {
  KernelScript kernel;
  kernel.info.name = "chain";
  kernel.info.grid = {3, 1, 1};
  kernel.info.block = {64, 1, 1};
  kernel.warp = [instructions](uint32_t, uint32_t) {
    WarpScript s;
    for (uint32_t i = 1; i < instructions; ++i) s.Op("FADD", {4}, {4, 5}, 0xff);
    return s.Op("EXIT");
  };
  return kernel;
}

TEST(Profile, HasARowForEachInstruction) {
  const RunReport report = Simulate(WriteTrace({Kernel(10), Kernel(3)}), TestConfig(), 1, 0, true);
  ASSERT_EQ(report.kernels.size(), 2u);
  EXPECT_EQ(report.kernels[1].per_pc.size(), 3u);
  const auto& rows = report.kernels[0].per_pc;
  ASSERT_EQ(rows.size(), 10u);
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].pc, 16 * i);
    EXPECT_EQ(rows[i].opcode, i < 9 ? "FADD" : "EXIT");
    EXPECT_EQ(rows[i].counters.issued, 6u) << "3 CTAs of 2 warps";
    EXPECT_EQ(rows[i].counters.threads, i < 9 ? 6u * 8 : 6u * 32);
  }
}

TEST(Profile, IsEmptyUnlessAskedFor) {
  const RunReport report = Simulate(WriteTrace({Kernel(10)}), TestConfig());
  EXPECT_TRUE(report.kernels.at(0).per_pc.empty());
}

// Each host thread counts by itself, so the bound on instructions falls with threads.
TEST(Profile, IsBounded) {
  SimulatorOptions options;
  options.config = TestConfig();
  options.trace_path = WriteTrace({Kernel(8000)});
  options.threads = 256;
  options.profile = true;
  const auto refused = Simulator::Create(options);
  ASSERT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument) << refused.status();
  ASSERT_EQ(FaultsOf(refused.status()).size(), 1u);
  EXPECT_EQ(FaultsOf(refused.status())[0].field, "profile");
  EXPECT_EQ(FaultsOf(refused.status())[0].value, "8000 instructions");
  EXPECT_THAT(FaultsOf(refused.status())[0].expected, HasSubstr("at most 7782 with 256 thread"));
  options.profile = false;
  EXPECT_TRUE(Simulator::Create(options).ok()) << "without a profile there is no such bound";
  options.profile = true;
  options.threads = 1;
  EXPECT_TRUE(Simulator::Create(options).ok());
}

}  // namespace
}  // namespace sm89
