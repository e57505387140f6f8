// The example kernels of tests/data/kernels: launch files that fit their cubins, and recorded silicon results
// that equal what the host computes from the same inputs.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "sim/cubin/reader.h"
#include "sim/launch/buffers.h"
#include "sim/launch/launch.h"
#include "sim/launch/outputs.h"
#include "tests/unit/sim_launch/host_kernels.h"

namespace sm89::launch {
namespace {

const std::string kKernels = SM89_SOURCE_DIR "/tests/data/kernels/";

std::string TextOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

LaunchSpec LaunchOf(const std::string& kernel) {
  const auto file = ReadLaunches(kKernels + kernel + ".json");
  EXPECT_TRUE(file.ok()) << file.status();
  return file.ok() ? file->launches.at(0) : LaunchSpec{};
}

// The launch's outputs as the host computes them.
LaunchResult HostResult(const LaunchSpec& launch) {
  host_kernels::Buffers buffers;
  for (const BufferSpec& buffer : launch.buffers) buffers[buffer.name] = *MakeBuffer(buffer, 0);
  host_kernels::All().at(launch.kernel)(launch, buffers);
  LaunchResult result = {launch.id, launch.kernel, {}};
  for (const BufferSpec& buffer : launch.buffers) {
    if (buffer.output) result.outputs.push_back(Summarise(buffer, buffers.at(buffer.name)));
  }
  return result;
}

class ExampleKernel : public ::testing::TestWithParam<std::string> {};

TEST_P(ExampleKernel, LaunchFitsItsCubin) {
  const LaunchSpec launch = LaunchOf(GetParam());
  const std::string path = CubinPath(kKernels, GetParam(), 89);
  const auto module = cubin::ParseCubin(TextOf(path), path);
  ASSERT_TRUE(module.ok()) << module.status();
  const cubin::Function* function = module->Find(launch.kernel);
  ASSERT_NE(function, nullptr);
  EXPECT_TRUE(CheckLaunch(launch, *function, 89).ok()) << CheckLaunch(launch, *function, 89);
  EXPECT_TRUE(PackParams(*function, launch, PlanAddresses(launch)).ok());
  EXPECT_EQ(function->lines.size(), function->num_instructions());  // built with -lineinfo
}

TEST_P(ExampleKernel, SiliconComputedWhatTheHostComputes) {
  const LaunchSpec launch = LaunchOf(GetParam());
  const auto reference = ParseReference(TextOf(kKernels + "h200.json"), "h200.json");
  ASSERT_TRUE(reference.ok()) << reference.status();
  ASSERT_NE(launch.compare, Compare::kNone);
  const LaunchResult result = HostResult(launch);
  ASSERT_FALSE(result.outputs.empty());
  size_t compared = 0;
  for (const ReferenceCase& recorded : *reference) {
    if (recorded.id != launch.id) continue;
    EXPECT_EQ(recorded.outputs.size(), result.outputs.size());
    const absl::Status status = CompareWithReference(result, launch.compare, recorded);
    EXPECT_TRUE(status.ok()) << status;
    ++compared;
  }
  EXPECT_EQ(compared, 1u);
}

INSTANTIATE_TEST_SUITE_P(All, ExampleKernel,
                         ::testing::Values("vector_add", "sgemm_tiled", "sgemm_register", "tensor_gemm",
                                           "reduction", "divergent", "histogram"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace sm89::launch
