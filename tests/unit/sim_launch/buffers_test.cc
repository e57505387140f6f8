#include "sim/launch/buffers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/digest.h"
#include "sim/base/fault.h"

namespace sm89::launch {
namespace {

constexpr uint64_t kAddress = 0x7f0000010000;

std::string DigestOf(const std::vector<uint8_t>& bytes) {
  return Sha256Hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

template <typename T>
std::vector<T> Elements(const BufferSpec& buffer) {
  const auto bytes = MakeBuffer(buffer, kAddress);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  std::vector<T> out(buffer.count);
  EXPECT_EQ(bytes->size(), out.size() * sizeof(T));
  std::memcpy(out.data(), bytes->data(), bytes->size());
  return out;
}

struct KnownBytes {
  const char* what;
  BufferSpec buffer;
  const char* sha256;
};

// Digests computed with NumPy by the make() of the silicon suite's run_suite.py.
const KnownBytes kKnown[] = {
    {"uniform f16",
     {"b", DataType::kF16, 1000, {.init = Init::kUniform, .seed = 7, .lo = -1.5, .hi = 2.3}},
     "d2973421e40416e4ccd753d1c635805a8395934f7f32ee9a270a123ff6c37ad7"},
    {"uniform f32",
     {"b", DataType::kF32, 1000, {.init = Init::kUniform, .seed = 7, .lo = -1.5, .hi = 2.3}},
     "a2b4db83c38e7753929c117b3b52832ffef51bd35d733cd78675ca990d72faf5"},
    {"uniform f64",
     {"b", DataType::kF64, 1000, {.init = Init::kUniform, .seed = 7, .lo = -1.5, .hi = 2.3}},
     "affaefc5e0c21d5d78246c32177d9cad63251d34892dd002c63249f41a7779e5"},
    {"uniform f16 with subnormals",
     {"b", DataType::kF16, 4096, {.init = Init::kUniform, .seed = 3, .lo = -1e-4, .hi = 1e-4}},
     "19e0b43625a94dfe91ab9aea8ca00ed4764dcb725a7a95f4c06c02172375e89c"},
    {"hash i8",
     {"b", DataType::kI8, 1000, {.init = Init::kHash, .seed = 9}},
     "3a6f4f9a4944e8186287cd65e4b7ce92a5932e613a07c78127baba799de64d44"},
    {"hash u16",
     {"b", DataType::kU16, 1000, {.init = Init::kHash, .seed = 9}},
     "6d394c53f39e3420d45cb5579b73fdbb3ed1dc93bd7727a1bd9ee4dc81d87c45"},
    {"hash i32",
     {"b", DataType::kI32, 1000, {.init = Init::kHash, .seed = 9}},
     "d8379e772dc712f0e4a7403fba513a2eaa2544a3c21894875ecb017a69771d40"},
    {"hash i64",
     {"b", DataType::kI64, 1000, {.init = Init::kHash, .seed = 9}},
     "f569081c33b910198e29bd0f08526edb899e33ba2b9dc397455a6e26f29a6b0e"},
    {"hash f32",
     {"b", DataType::kF32, 1000, {.init = Init::kHash, .seed = 9}},
     "714e8f0f3994cb9b7b737fcd171e6a1ecc9f556c9374f70ee2469c2c61728951"},
    {"hash f64",
     {"b", DataType::kF64, 1000, {.init = Init::kHash, .seed = 9}},
     "1eaf1f53d33ae84e2163a54a79d83b5255202b6b632882c33ccefdbabd4f536f"},
    {"hash i32 of the largest seed, modulo 1000",
     {"b", DataType::kI32, 1000, {.init = Init::kHash, .seed = 4294967295, .mod = 1000}},
     "116e652c9962b365fccce685ed5056eef19922d67e6a97592ce94600f725f57b"},
    {"hash f16 modulo 3000",
     {"b", DataType::kF16, 1000, {.init = Init::kHash, .seed = 5, .mod = 3000}},
     "e081b09f04ecf87bd952bed9423b70f9a89751910f8fb01a8092762dc96cb127"},
    {"csr_rows i32",
     {"b", DataType::kI32, 1000, {.init = Init::kCsrRows, .seed = 10, .min = 4, .span = 25}},
     "c14587b0aef5c4b14027d0a45fd4114ba350ad8887aaa1e8d99afac92fbdf6df"},
    {"affine u32",
     {"b", DataType::kU32, 1000, {.init = Init::kAffine, .mod = 1000, .mul = 1, .add = 2048}},
     "91a2f0b85ff75862dd15fe35a3942c8c3e07dd79a17514bc819ed8920aba8a85"},
    {"affine u64 that wraps",
     {"b",
      DataType::kU64,
      1000,
      {.init = Init::kAffine, .mod = (1ull << 62) + 3, .mul = (1ull << 63) + 12345, .add = 17}},
     "9c80f43e415ffb7bf7609e754f00fce5aad244c8b1e590125a82858504789a50"},
    {"affine f32",
     {"b",
      DataType::kF32,
      1000,
      {.init = Init::kAffine, .mod = (1ull << 62) + 3, .mul = (1ull << 33) + 12345, .add = 17}},
     "74b06abcf547a13a7e0ed1dad88ba5ff78660b8660afeb3949828c280cc3752d"},
    {"chase",
     {"b", DataType::kU64, 1024, {.init = Init::kChase, .stride_bytes = 128}},
     "96fed3455dadde3aeae1bc004a1aa4ca038eb644863f97b831a0261468f3df52"},
    {"chase whose stride does not divide the buffer",
     {"b", DataType::kU64, 1000, {.init = Init::kChase, .stride_bytes = 96}},
     "f60b1c6e8267e05b3f20f27f1bb07b881a5cf1cb9f65fdadb3bff46501888a70"},
    {"self",
     {"b", DataType::kU64, 1024, {.init = Init::kSelf, .stride_bytes = 64}},
     "800b8f6825b90a92ed0aeedfd7fc9273bba4d16f5b34566257191a81a1dfa836"},
    {"level i32",
     {"b", DataType::kI32, 1000, {.init = Init::kLevel, .seed = 12}},
     "b983c68e849e7e638d757df7a5f2d0a9126a5d2e1f1422a278312ee43b6f04ce"},
    {"level f32",
     {"b", DataType::kF32, 1000, {.init = Init::kLevel, .seed = 12}},
     "63f4b538a29384351fb724a8fe3b6f0c1ed859c12300ba1c06744ffe7d833bfa"},
};

TEST(MakeBuffer, GivesTheBytesOfTheSiliconSuitesGenerators) {
  for (const KnownBytes& known : kKnown) {
    const auto bytes = MakeBuffer(known.buffer, kAddress);
    ASSERT_TRUE(bytes.ok()) << known.what;
    EXPECT_EQ(DigestOf(*bytes), known.sha256) << known.what;
  }
}

// First elements worked out by hand from the definition of mix(i, seed) with seed 0: mix(0, 0) = 0.
TEST(MakeBuffer, HashOfZeroIsZeroAndUniformStartsAtItsLowerEnd) {
  const auto hash = Elements<uint32_t>({"b", DataType::kU32, 4, {.init = Init::kHash, .seed = 0}});
  EXPECT_EQ(hash[0], 0u);
  EXPECT_NE(hash[1], 0u);
  const auto uniform =
      Elements<float>({"b", DataType::kF32, 4, {.init = Init::kUniform, .seed = 0, .lo = -2, .hi = 2}});
  EXPECT_EQ(uniform[0], -2.0f);
}

TEST(MakeBuffer, UniformStaysInItsRangeAndFillsIt) {
  const auto values =
      Elements<double>({"b", DataType::kF64, 65536, {.init = Init::kUniform, .seed = 1, .lo = 3, .hi = 5}});
  double sum = 0;
  for (const double v : values) {
    ASSERT_GE(v, 3);
    ASSERT_LE(v, 5);
    sum += v;
  }
  // The mean of n uniform numbers of width 2 has the deviation 2 / sqrt(12 n); five of them.
  EXPECT_NEAR(sum / 65536, 4, 5 * 2 / std::sqrt(12.0 * 65536));
}

TEST(MakeBuffer, IotaCountsInEveryType) {
  EXPECT_THAT(Elements<uint8_t>({"b", DataType::kU8, 258, {.init = Init::kIota}})[257], 1);
  EXPECT_THAT(Elements<float>({"b", DataType::kF32, 3, {.init = Init::kIota}}),
              ::testing::ElementsAre(0, 1, 2));
  // bf16 of 0, 1, 2, 3.
  EXPECT_THAT(Elements<uint16_t>({"b", DataType::kBf16, 4, {.init = Init::kIota}}),
              ::testing::ElementsAre(0, 0x3f80, 0x4000, 0x4040));
}

TEST(MakeBuffer, AChaseVisitsEveryPlaceOnce) {
  const BufferSpec buffer = {"b", DataType::kU64, 4096, {.init = Init::kChase, .stride_bytes = 256}};
  const auto words = Elements<uint64_t>(buffer);
  std::vector<bool> seen(words.size());
  uint64_t at = 0;
  for (size_t step = 0; step < 4096 / 32; ++step) {
    EXPECT_FALSE(seen[at]);
    seen[at] = true;
    at = (words[at] - kAddress) / 8;
  }
  EXPECT_EQ(at, 0u);
}

TEST(MakeBuffer, ARawFileMustHaveTheBuffersSize) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "sm89_launch_raw.bin";
  std::ofstream(path, std::ios::binary) << "12345678";
  BufferSpec buffer = {"w", DataType::kU32, 2, {.init = Init::kFile, .file = path.string()}};
  EXPECT_THAT(Elements<uint32_t>(buffer), ::testing::ElementsAre(0x34333231, 0x38373635));
  buffer.count = 3;
  const auto longer = MakeBuffer(buffer, kAddress);
  ASSERT_EQ(FaultsOf(longer.status()).size(), 1u);
  EXPECT_EQ(FaultsOf(longer.status())[0].value, "8 bytes");
  EXPECT_EQ(FaultsOf(longer.status())[0].expected, "12 bytes");
  std::filesystem::remove(path);
  EXPECT_EQ(MakeBuffer(buffer, kAddress).status().code(), absl::StatusCode::kNotFound);
}

TEST(MakeBuffer, RawBytesThatTravelWithTheLaunchNeedNoFile) {
  BufferSpec buffer = {"w", DataType::kU16, 2, {.init = Init::kFile, .file = "/nowhere/w.bin"}};
  buffer.generator.content = std::make_shared<const std::string>("1234");
  EXPECT_THAT(Elements<uint16_t>(buffer), ::testing::ElementsAre(0x3231, 0x3433));
  buffer.generator.content = std::make_shared<const std::string>("123");
  EXPECT_EQ(FaultsOf(MakeBuffer(buffer, kAddress).status()).at(0).value, "3 bytes");
}

TEST(PlanAddresses, BuffersAreAlignedApartAndAlwaysAtTheSamePlaces) {
  LaunchSpec spec;
  spec.buffers = {{"a", DataType::kU8, 1}, {"b", DataType::kF32, 1000}, {"c", DataType::kU8, 3}};
  spec.buffers[2].align_bytes = 1 << 21;
  const AddressPlan plan = PlanAddresses(spec);
  ASSERT_EQ(plan.buffers.size(), 3u);
  uint64_t end = kBufferBase;
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(plan.buffers[i].address % std::max(256u, spec.buffers[i].align_bytes), 0u);
    EXPECT_GE(plan.buffers[i].address, end + kGuardBytes);
    EXPECT_EQ(plan.buffers[i].size_bytes, spec.buffers[i].size_bytes());
    end = plan.buffers[i].address + plan.buffers[i].size_bytes;
  }
  EXPECT_GE(plan.end, end + kGuardBytes);
  EXPECT_EQ(PlanAddresses(spec).buffers[2].address, plan.buffers[2].address);
}

}  // namespace
}  // namespace sm89::launch
