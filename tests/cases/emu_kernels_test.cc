// The kernels of tests/data/kernels on the emulator, element by element against an independent computation on
// the host from the same inputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sim/cubin/reader.h"
#include "sim/emu/emulator.h"
#include "sim/launch/buffers.h"
#include "sim/launch/launch.h"
#include "tests/support/example_kernels.h"
#include "tests/unit/sim_launch/host_kernels.h"

namespace sm89 {
namespace {

namespace host_kernels = launch::host_kernels;

// Elements whose values are farther apart than a launch's `approx` allows.
size_t FarApart(const std::vector<float>& got, const std::vector<float>& expected) {
  size_t far = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double bound = 1e-3 * std::max(std::fabs(static_cast<double>(expected[i])), 1e-3);
    if (!(std::fabs(static_cast<double>(got[i]) - expected[i]) <= bound)) ++far;
  }
  return far;
}

class EmuKernel : public ::testing::TestWithParam<std::string> {};

TEST_P(EmuKernel, ComputesWhatTheHostComputes) {
  const auto file = launch::ReadLaunches(testing::ExampleKernelPath(GetParam() + ".json"));
  ASSERT_TRUE(file.ok()) << file.status();
  const launch::LaunchSpec& spec = file->launches.at(0);
  const auto module = cubin::OpenCubin(testing::ExampleKernelPath(GetParam() + ".sm_89.cubin"), 89);
  ASSERT_TRUE(module.ok()) << module.status();
  auto emulator = emu::Emulator::Create(*module, spec, {});
  ASSERT_TRUE(emulator.ok()) << emulator.status();
  ASSERT_TRUE((*emulator)->RunAll(nullptr).ok());
  EXPECT_EQ((*emulator)->num_findings(), 0u);

  host_kernels::Buffers expected;
  for (const launch::BufferSpec& buffer : spec.buffers) expected[buffer.name] = *MakeBuffer(buffer, 0);
  host_kernels::All().at(spec.kernel)(spec, expected);
  size_t compared = 0;
  for (size_t i = 0; i < spec.buffers.size(); ++i) {
    // Inputs too: a kernel must leave them alone.
    SCOPED_TRACE(spec.buffers[i].name);
    const std::span<const uint8_t> bytes = (*emulator)->buffer(i);
    const std::vector<uint8_t> got(bytes.begin(), bytes.end());
    const std::vector<uint8_t>& want = expected.at(spec.buffers[i].name);
    ASSERT_EQ(got.size(), want.size());
    compared += spec.buffers[i].output ? 1 : 0;
    if (spec.buffers[i].output && spec.compare == launch::Compare::kApprox) {
      ASSERT_EQ(spec.buffers[i].type, launch::DataType::kF32);
      EXPECT_EQ(FarApart(host_kernels::As<float>(got), host_kernels::As<float>(want)), 0u);
      continue;
    }
    const auto differ = std::mismatch(got.begin(), got.end(), want.begin());
    EXPECT_EQ(differ.first, got.end()) << "from byte " << differ.first - got.begin();
  }
  EXPECT_GT(compared, 0u);
}

INSTANTIATE_TEST_SUITE_P(All, EmuKernel, ::testing::ValuesIn(testing::ExampleKernelNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace sm89
