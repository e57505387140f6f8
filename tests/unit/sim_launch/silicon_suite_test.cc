// The silicon suite's manifests: all of them read, their inputs made bit by bit, their arguments packed for
// the real cubins, and outputs that are plain functions of the inputs equal to what an H200 wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "sim/base/digest.h"
#include "sim/cubin/reader.h"
#include "sim/launch/buffers.h"
#include "sim/launch/launch.h"
#include "sim/launch/outputs.h"

namespace sm89::launch {
namespace {

const std::string kSuite = SM89_SOURCE_DIR "/../shared/silicon";

class SiliconSuite : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kSuite)) GTEST_SKIP() << kSuite << " is not there";
  }

  static LaunchFile Manifest(const std::string& name) {
    auto file = ReadLaunches(kSuite + "/" + name);
    EXPECT_TRUE(file.ok()) << file.status();
    return file.ok() ? *std::move(file) : LaunchFile{};
  }

  static std::string TextOf(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }

  static std::string DigestOf(const std::vector<uint8_t>& bytes) {
    return Sha256Hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

  // Digest of "<case> <buffer> <sha256>" lines for all buffers that are not zero.
  static std::string DigestOfInputs(const LaunchFile& file) {
    std::string lines;
    for (const LaunchSpec& launch : file.launches) {
      for (const BufferSpec& buffer : launch.buffers) {
        if (buffer.generator.init == Init::kZero) continue;
        const auto bytes = MakeBuffer(buffer, 0x7f0000010000);
        EXPECT_TRUE(bytes.ok()) << launch.id << " " << buffer.name;
        lines += launch.id + " " + buffer.name + " " + DigestOf(*bytes) + "\n";
      }
    }
    return Sha256Hex(lines);
  }
};

TEST_F(SiliconSuite, EveryCaseIsUnderstood) {
  const LaunchFile suite = Manifest("suite.json");
  EXPECT_TRUE(suite.is_manifest);
  EXPECT_EQ(suite.launches.size(), 125u);
  EXPECT_EQ(Manifest("micro2.json").launches.size(), 117u);
  size_t exact = 0;
  size_t outputs = 0;
  for (const LaunchSpec& launch : suite.launches) {
    exact += launch.compare == Compare::kExact ? 1 : 0;
    for (const BufferSpec& buffer : launch.buffers) outputs += buffer.output ? 1 : 0;
  }
  EXPECT_EQ(exact, 24u);
  EXPECT_GE(outputs, suite.launches.size());
}

// Computed with NumPy by the make() of run_suite.py, buffers at address 0x7f0000010000.
TEST_F(SiliconSuite, InputsAreTheSuitesOwnBytes) {
  EXPECT_EQ(DigestOfInputs(Manifest("suite.json")),
            "6043e183771f0a83da7d3d51dc2a2930eacc98d204471c4bce1d39e10771c031");
  EXPECT_EQ(DigestOfInputs(Manifest("micro2.json")),
            "e68608c0622c04c1276f31e5943ef907823a8e51e9f3728eb47025fd6c11de86");
}

TEST_F(SiliconSuite, ArgumentsFitTheKernelsOfBothArchitectures) {
  size_t packed = 0;
  for (const uint32_t arch : {89u, 90u}) {
    std::map<std::string, cubin::Module> modules;
    for (const char* name : {"suite.json", "micro2.json"}) {
      for (const LaunchSpec& launch : Manifest(name).launches) {
        const std::string path = CubinPath(kSuite + "/cubin", launch.module, arch);
        if (!modules.contains(path)) {
          auto module = cubin::ParseCubin(TextOf(path), path);
          ASSERT_TRUE(module.ok()) << module.status();
          modules[path] = *std::move(module);
        }
        const cubin::Function* function = modules[path].Find(launch.kernel);
        ASSERT_NE(function, nullptr) << launch.id;
        EXPECT_TRUE(CheckLaunch(launch, *function, arch).ok())
            << launch.id << ": " << CheckLaunch(launch, *function, arch);
        const auto block = PackParams(*function, launch, PlanAddresses(launch));
        ASSERT_TRUE(block.ok()) << launch.id << ": " << block.status();
        EXPECT_EQ(block->size(), function->param_bytes) << launch.id;
        ++packed;
      }
    }
  }
  EXPECT_EQ(packed, 2u * (125 + 117));
}

using Buffers = std::map<std::string, std::vector<uint8_t>>;

template <typename T>
T At(const std::vector<uint8_t>& bytes, size_t index) {
  T value;
  std::memcpy(&value, &bytes[index * sizeof(T)], sizeof(T));
  return value;
}

template <typename T>
void Put(std::vector<uint8_t>& bytes, size_t index, T value) {
  std::memcpy(&bytes[index * sizeof(T)], &value, sizeof(T));
}

// What kernels compute that need no more than their inputs' bytes, on the host.
const std::map<std::string, std::function<void(Buffers&)>> kHostKernels = {
    {"vector_add",
     [](Buffers& b) {
       for (size_t i = 0; i < 1048576; ++i) Put(b["c"], i, At<float>(b["a"], i) + At<float>(b["b"], i));
     }},
    {"copy_float4", [](Buffers& b) { b["out"] = b["in"]; }},
    {"random_gather",
     [](Buffers& b) {
       for (size_t i = 0; i < 1048576; ++i)
         Put(b["out"], i, At<float>(b["in"], At<uint32_t>(b["index"], i)) * 2);
     }},
    {"histogram_shared",
     [](Buffers& b) {
       for (size_t i = 0; i < 1048576; ++i) {
         const uint32_t bin = At<uint32_t>(b["data"], i) & 255;
         Put(b["bins"], bin, At<uint32_t>(b["bins"], bin) + 1);
       }
     }},
};

TEST_F(SiliconSuite, OutputsMadeOnTheHostAreThoseOfTheSilicon) {
  const LaunchFile suite = Manifest("suite.json");
  const auto reference = ParseReference(TextOf(kSuite + "/measured/h200_runs.json"), "h200_runs.json");
  ASSERT_TRUE(reference.ok()) << reference.status();
  for (const auto& [id, compute] : kHostKernels) {
    const auto launches = suite.Select({id});
    ASSERT_TRUE(launches.ok()) << launches.status();
    const LaunchSpec& launch = *launches->front();
    Buffers buffers;
    for (const BufferSpec& buffer : launch.buffers) buffers[buffer.name] = *MakeBuffer(buffer, 0);
    compute(buffers);
    LaunchResult result = {launch.id, launch.kernel, {}};
    for (const BufferSpec& buffer : launch.buffers) {
      if (buffer.output) result.outputs.push_back(Summarise(buffer, buffers[buffer.name]));
    }
    ASSERT_EQ(launch.compare, Compare::kExact);
    for (const ReferenceCase& recorded : *reference) {
      if (recorded.id != id) continue;
      EXPECT_TRUE(CompareWithReference(result, Compare::kExact, recorded).ok()) << id;
      EXPECT_TRUE(CompareWithReference(result, Compare::kApprox, recorded).ok()) << id;
      buffers.clear();
    }
    EXPECT_TRUE(buffers.empty()) << id << " has no recording";
  }
}

}  // namespace
}  // namespace sm89::launch
