// The Hopper model against what an H200 computed: FP16 products of ../shared/silicon, bit by bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/num/half.h"
#include "sim/num/mma.h"
#include "tests/unit/sim_num/reference.h"

namespace sm89::num {
namespace {

using testing::BitsOfFloat;
using testing::FloatOf;

constexpr char kSilicon[] = SM89_SOURCE_DIR "/../shared/silicon";
constexpr int kDepth = 512;  // the case mma_f16_direct: 256 x 1024 results, sums of 512 products
constexpr int kColumns = 1024;
constexpr int kRows = 256;

// The suite's generator (README.md there): uniform in [-1, 1), rounded to FP16.
uint32_t Input(uint32_t index, uint32_t seed) {
  uint32_t x = index * 0x9E3779B9u + seed * 0x85EBCA6Bu;
  x ^= x >> 16;
  x *= 0x7FEB352Du;
  x ^= x >> 15;
  x *= 0x846CA68Bu;
  x ^= x >> 16;
  return Fp32ToFp16(BitsOfFloat(-1.0f + 2.0f * (static_cast<float>(x >> 8) * 0x1p-24f)));
}

// One 16 x 8 tile over all of k, as a warp accumulates it.
float Element(int row, int col, const MmaDesc& desc, MmaMode mode) {
  uint32_t a[4][32];
  uint32_t b[2][32];
  uint32_t c[4][32] = {};
  MmaRegs regs;
  for (int i = 0; i < 4; ++i) {
    regs.a[i] = a[i];
    regs.c[i] = c[i];
    regs.d[i] = c[i];
  }
  regs.b[0] = b[0];
  regs.b[1] = b[1];
  const auto pair = [](int line, int k, uint32_t seed) {
    const auto index = static_cast<uint32_t>(line * kDepth + k);
    return Input(index, seed) | (Input(index + 1, seed) << 16);
  };
  for (int k = 0; k < kDepth; k += 16) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < 4; ++i) {
        a[i][lane] = pair(row / 16 * 16 + lane / 4 + i % 2 * 8, k + lane % 4 * 2 + i / 2 * 8, 31);
      }
      for (int i = 0; i < 2; ++i) b[i][lane] = pair(col / 8 * 8 + lane / 4, k + lane % 4 * 2 + i * 8, 32);
    }
    Mma(desc, regs, mode);
  }
  const num::Element at = Locate(desc, Matrix::kC, row % 16, col % 8);
  return FloatOf(c[at.reg][at.lane]);
}

// The chain kernels: 256 dependent products of registers that hold seed, seed + 1, ... in every lane; the sum
// of a lane's accumulators, four times.
double ChainResult(const MmaDesc& desc, uint32_t seed) {
  uint32_t a[4][32];
  uint32_t b[4][32];
  uint32_t c[4][32] = {};
  uint32_t metadata[32];
  MmaRegs regs;
  regs.e = metadata;
  const int b_first = 4;
  for (int i = 0; i < 4; ++i) {
    std::fill_n(a[i], 32, seed + static_cast<uint32_t>(i));
    std::fill_n(b[i], 32, seed + static_cast<uint32_t>(b_first + i));
    regs.a[i] = a[i];
    regs.b[i] = b[i];
    regs.c[i] = c[i];
    regs.d[i] = c[i];
  }
  std::fill_n(metadata, 32, 0x44444444u);
  for (int i = 0; i < 256; ++i) Mma(desc, regs);
  if (desc.acc == MmaType::kS32) {
    return 4.0 * static_cast<double>(static_cast<int32_t>(c[0][0] + c[1][0] + c[2][0] + c[3][0]));
  }
  float sum = 0;
  for (int i = 0; i < 4; ++i)
    sum += FloatOf(c[0][0]) + FloatOf(c[1][0]) + FloatOf(c[2][0]) + FloatOf(c[3][0]);
  return sum;
}

TEST(MmaSilicon, ChainsOfEveryTypeGiveTheResultsOfAnH200) {
  std::ifstream file(std::string(kSilicon) + "/measured/h200_runs.json");
  if (!file) GTEST_SKIP() << "no ../shared/silicon next to the repository";
  const nlohmann::json runs = nlohmann::json::parse(file);
  struct Row {
    const char* run;
    MmaDesc desc;
    uint32_t seed;
  };
  const Row rows[] = {
      {"mma_f16_w4", {}, 0},
      {"mma_bf16_w4", {.a = MmaType::kBf16, .b = MmaType::kBf16}, 0},
      {"mma_tf32_w4", {.k = 8, .a = MmaType::kTf32, .b = MmaType::kTf32}, 0},
      {"mma_e4m3_w4", {.k = 32, .a = MmaType::kE4m3, .b = MmaType::kE4m3}, 0},
      {"mma_e5m2_w4", {.k = 32, .a = MmaType::kE5m2, .b = MmaType::kE5m2}, 0},
      {"mma_sparse_f16_w4", {.k = 32, .sparse = true}, 0},
      {"mma_s8_w4", {.k = 32, .a = MmaType::kS8, .b = MmaType::kS8, .acc = MmaType::kS32}, 16909060},
  };
  for (const Row& row : rows) {
    MmaDesc desc = row.desc;
    desc.core = TensorCore::kHopper;
    EXPECT_EQ(ChainResult(desc, row.seed),
              runs.at(row.run).at("outputs").at("out").at("head").at(0).get<double>())
        << row.run;
  }
}

TEST(MmaSilicon, HopperModelGivesTheBitsOfAnH200) {
  std::ifstream file(std::string(kSilicon) + "/measured/h200_runs.json");
  if (!file) GTEST_SKIP() << "no ../shared/silicon next to the repository";
  const nlohmann::json runs = nlohmann::json::parse(file);
  const nlohmann::json& result = runs.at("mma_f16_direct").at("outputs").at("c");
  MmaDesc hopper;
  hopper.core = TensorCore::kHopper;
  const MmaDesc ada;
  const auto check = [&](size_t index, float want) {
    const int row = static_cast<int>(index) / kColumns;
    const int col = static_cast<int>(index) % kColumns;
    EXPECT_EQ(Element(row, col, hopper, MmaMode::kHardware), want) << row << " " << col;
    // The other models stay within the tolerance that silicon is compared with.
    const float tolerance = 1e-3f * std::max(std::fabs(want), 1e-3f);
    EXPECT_NEAR(Element(row, col, ada, MmaMode::kHardware), want, tolerance);
    EXPECT_NEAR(Element(row, col, ada, MmaMode::kFmaChain), want, tolerance);
  };
  const nlohmann::json& head = result.at("head");
  ASSERT_EQ(head.size(), 16u);
  for (size_t i = 0; i < head.size(); ++i) check(i, head[i].get<float>());
  const nlohmann::json& sample = result.at("sample");
  ASSERT_EQ(sample.size(), 64u);
  for (size_t i = 0; i < sample.size(); ++i) check(i * (kRows * kColumns / 64), sample[i].get<float>());
}

}  // namespace
}  // namespace sm89::num
