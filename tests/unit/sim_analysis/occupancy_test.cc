// Occupancy of a launch against CUDA's own calculation.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

#include "nlohmann/json.hpp"
#include "sim/analysis/module_info.h"

#ifdef SM89_HAVE_CUDA_OCCUPANCY
#include <climits>

#include "cuda_occupancy.h"
#endif

namespace sm89::analysis {
namespace {

cubin::Function KernelOf(uint32_t registers, uint32_t shared_bytes) {
  cubin::Function kernel;
  kernel.name = "k";
  kernel.is_kernel = true;
  kernel.registers = registers;
  kernel.static_shared_bytes = shared_bytes;
  return kernel;
}

TEST(OccupancyTest, NamesTheResourceThatLimits) {
  const auto limiter = [](uint32_t registers, uint32_t shared, uint32_t threads) {
    return OccupancyOf(KernelOf(registers, shared), {.block_threads = threads}, SmConfig())->limiters[0];
  };
  EXPECT_EQ(limiter(32, 0, 32), "CTAs");
  EXPECT_EQ(limiter(255, 0, 128), "registers");
  EXPECT_EQ(limiter(32, 40000, 128), "shared memory");
  EXPECT_EQ(limiter(32, 0, 1024), "warps");
}

TEST(OccupancyTest, ImpossibleLaunchesSayWhy) {
  const SmConfig config;
  const auto reason = [&](const cubin::Function& kernel, uint32_t threads) {
    const auto result = OccupancyOf(kernel, {.block_threads = threads}, config);
    EXPECT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(result->ctas_per_sm, 0u);
    return result->reason;
  };
  EXPECT_NE(reason(KernelOf(32, 0), 1025).find("1025 threads"), std::string::npos);
  EXPECT_NE(reason(KernelOf(128, 0), 1024).find("131072 registers"), std::string::npos);
  EXPECT_NE(reason(KernelOf(32, 102400), 128).find("102400 bytes"), std::string::npos);
  cubin::Function bounded = KernelOf(32, 0);
  bounded.max_threads = Dim3{128, 1, 1};
  EXPECT_NE(reason(bounded, 256).find("at most 128 threads"), std::string::npos);
  EXPECT_FALSE(OccupancyOf(KernelOf(32, 0), {.block_threads = 0}, config).ok());
}

TEST(OccupancyTest, JsonCarriesEveryLimit) {
  const auto result = OccupancyOf(KernelOf(40, 2048), {.block_threads = 256}, SmConfig());
  ASSERT_TRUE(result.ok());
  const auto json = nlohmann::json::parse(ToJson(*result));
  EXPECT_EQ(json["ctas_per_sm"], 6);
  EXPECT_EQ(json["limits"]["registers"], 6);
  EXPECT_EQ(json["limits"]["warps"], 6);
  EXPECT_EQ(json["limits"]["CTAs"], 24);
  EXPECT_EQ(json["limiters"], (nlohmann::json{"warps", "registers"}));
}

#ifdef SM89_HAVE_CUDA_OCCUPANCY
// Compute capability 8.9 as the CUDA programming guide's table of technical specifications has it.
cudaOccDeviceProp Properties() {
  cudaOccDeviceProp p;
  p.computeMajor = 8;
  p.computeMinor = 9;
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsPerMultiprocessor = 1536;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.warpSize = 32;
  p.sharedMemPerBlock = 48 << 10;
  p.sharedMemPerMultiprocessor = 100 << 10;
  p.sharedMemPerBlockOptin = 99 << 10;
  p.reservedSharedMemPerBlock = 1 << 10;
  p.numSms = 128;
  return p;
}

std::vector<std::string> FactorNames(unsigned factors) {
  std::vector<std::string> names;
  if ((factors & OCC_LIMIT_WARPS) != 0) names.push_back("warps");
  if ((factors & OCC_LIMIT_REGISTERS) != 0) names.push_back("registers");
  if ((factors & OCC_LIMIT_SHARED_MEMORY) != 0) names.push_back("shared memory");
  if ((factors & OCC_LIMIT_BLOCKS) != 0) names.push_back("CTAs");
  return names;
}

TEST(OccupancyTest, EqualsCudasOwnOnTenThousandRandomLaunches) {
  std::mt19937 random(20261129);
  const auto pick = [&random](uint32_t low, uint32_t high) -> uint32_t {
    return low + static_cast<uint32_t>(random()) % (high - low + 1);
  };
  const cudaOccDeviceProp properties = Properties();
  uint32_t possible = 0;
  for (int i = 0; i < 10'000; ++i) {
    const cubin::Function kernel = KernelOf(pick(0, 256), pick(0, 3) == 0 ? 0 : pick(0, 49152));
    LaunchShape launch{.block_threads = pick(1, 1100), .dynamic_shared_bytes = 0, .carveout_percent = {}};
    if (pick(0, 1) == 1) launch.dynamic_shared_bytes = pick(0, 70000);
    if (pick(0, 2) == 0) launch.carveout_percent = pick(0, 100);
    cudaOccFuncAttributes attributes;
    attributes.maxThreadsPerBlock = INT_MAX;
    attributes.numRegs = static_cast<int>(kernel.registers);
    attributes.sharedSizeBytes = kernel.static_shared_bytes;
    attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    attributes.maxDynamicSharedSizeBytes = 99 << 10;
    attributes.numBlockBarriers = 1;
    cudaOccDeviceState state;
    if (launch.carveout_percent) state.carveoutConfig = static_cast<int>(*launch.carveout_percent);
    cudaOccResult want;
    ASSERT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&want, &properties, &attributes, &state,
                                                      static_cast<int>(launch.block_threads),
                                                      launch.dynamic_shared_bytes),
              CUDA_OCC_SUCCESS);
    const auto got = OccupancyOf(kernel, launch, SmConfig());
    ASSERT_TRUE(got.ok()) << got.status().message();
    ASSERT_EQ(got->ctas_per_sm, static_cast<uint32_t>(want.activeBlocksPerMultiprocessor))
        << ToText(*got) << kernel.registers << " registers, " << kernel.static_shared_bytes << " static";
    ASSERT_EQ(got->limiters, FactorNames(want.limitingFactors)) << ToText(*got);
    possible += got->ctas_per_sm > 0 ? 1 : 0;
  }
  EXPECT_GT(possible, 3'000u);
}
#else
TEST(OccupancyTest, EqualsCudasOwnOnTenThousandRandomLaunches) {
  GTEST_SKIP() << "no cuda_occupancy.h when this was configured (set CUDA_HOME)";
}
#endif

}  // namespace
}  // namespace sm89::analysis
