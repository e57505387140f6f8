// The benchmark inputs are what their names promise: the recorded sizes, and the traces that the recorded
// figures were measured with.
#include "tests/perf/bench_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/ingest/ingest.h"
#include "tests/support/child_process.h"
#include "tests/support/temp_dir.h"

namespace sm89::perf {
namespace {

using ::sm89::testing::TempDir;

// Small, but with more than one row of CTAs and more than one iteration.
const BenchInput kSmall[] = {{"gemm", BenchKernel::kGemm, 18, 2},
                             {"vecadd", BenchKernel::kVecAdd, 5, 1},
                             {"hmma", BenchKernel::kHmma, 18, 2},
                             {"stream", BenchKernel::kStream, 5, 3}};
const BenchInput kGather = {"gather", BenchKernel::kGather, 3, 4};

IngestResult Ingest(const std::string& folder) {
  const auto result = IngestTrace(folder, folder + "/compact.sm89t", {});
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  return result.ok() ? *result : IngestResult{};
}

std::string MakeFolder(const TempDir& temp, const std::string& name) {
  std::filesystem::create_directory(temp.File(name));
  return temp.File(name);
}

TEST(BenchKernels, HaveAsManyInstructionsAsTheRecordedInputs) {
  std::vector<std::pair<std::string, uint64_t>> sizes;
  for (const BenchInput& input : BenchInputs()) sizes.emplace_back(input.name, WarpInstructions(input));
  EXPECT_THAT(sizes, ::testing::ElementsAre(std::pair("gemm128", 1'257'472), std::pair("vecadd512", 65'536),
                                            std::pair("hmma128", 389'120), std::pair("stream1024", 729'088)));
}

TEST(BenchKernels, TracesHoldTheInstructionsThatAreCounted) {
  std::vector<BenchInput> inputs(std::begin(kSmall), std::end(kSmall));
  inputs.push_back(kGather);
  for (const BenchInput& input : inputs) {
    const TempDir temp;
    ASSERT_TRUE(WriteBenchTrace(input, temp.path()).ok());
    const IngestResult ingested = Ingest(temp.path());
    ASSERT_EQ(ingested.info.kernels.size(), 1U) << input.name;
    EXPECT_EQ(ingested.info.kernels[0].warp_instructions, WarpInstructions(input)) << input.name;
    EXPECT_EQ(ingested.info.kernels[0].num_ctas, input.ctas) << input.name;
  }
}

TEST(BenchKernels, CompressedTracesAreTheSame) {
  const BenchInput& input = kSmall[0];
  const TempDir temp;
  const std::string plain = MakeFolder(temp, "plain"), packed = MakeFolder(temp, "packed");
  ASSERT_TRUE(WriteBenchTrace(input, plain).ok());
  ASSERT_TRUE(WriteBenchTrace(input, packed, true).ok());
  EXPECT_LT(Ingest(packed).input_bytes, Ingest(plain).input_bytes / 4);
  EXPECT_EQ(Ingest(packed).info.kernels[0].thread_instructions,
            Ingest(plain).info.kernels[0].thread_instructions);
}

TEST(BenchKernels, AreFoundByName) {
  for (const BenchInput& input : kSmall) EXPECT_EQ(KernelByName(NameOf(input.kernel)), input.kernel);
  EXPECT_EQ(KernelByName("gather"), BenchKernel::kGather);
  EXPECT_EQ(KernelByName("gemm128"), std::nullopt);
}

TEST(BenchKernels, WritingIntoAFolderThatIsNotThereFails) {
  EXPECT_FALSE(WriteBenchTrace(kSmall[1], "/nonexistent/folder").ok());
}

TEST(BenchKernels, EqualTheTracesOfTheRecordedFigures) {
  const std::string generator = SM89_SOURCE_DIR "/../shared/bench/gen_traces.py";
  if (!std::filesystem::exists(generator)) GTEST_SKIP() << generator << " is not here";
  for (const BenchInput& input : kSmall) {
    const TempDir temp;
    // Folders of one name, which goes into the digest.
    MakeFolder(temp, "ours");
    MakeFolder(temp, "theirs");
    const std::string ours = MakeFolder(temp, "ours/set"), theirs = MakeFolder(temp, "theirs/set");
    const auto run =
        testing::RunProgram({PYTHON3, generator, theirs, NameOf(input.kernel), std::to_string(input.ctas),
                             std::to_string(input.iterations), "--bin", "89"},
                            temp.path());
    ASSERT_EQ(run.exit_code, 0) << run.err;
    ASSERT_TRUE(WriteBenchTrace(input, ours).ok());
    const IngestResult our = Ingest(ours), their = Ingest(theirs);
    ASSERT_EQ(their.info.kernels.size(), 1U);
    EXPECT_EQ(our.info.kernels[0].warp_instructions, their.info.kernels[0].warp_instructions) << input.name;
    EXPECT_EQ(our.written.digest, their.written.digest) << input.name;
  }
}

}  // namespace
}  // namespace sm89::perf
