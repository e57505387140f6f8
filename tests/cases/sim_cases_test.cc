// The trace cases whose facts show only when the trace is simulated: 18 (order of streams) and 26 (a block
// that can never be placed).
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/api/simulator.h"
#include "sim/base/fault.h"
#include "sim/config/config.h"
#include "sim/ingest/ingest.h"
#include "tests/support/expect_file.h"

namespace sm89 {
namespace {

namespace fs = std::filesystem;
using testing::ReadExpect;

constexpr char kCases[] = SM89_SOURCE_DIR "/../shared/cases";

class SimCase : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(kCases)) GTEST_SKIP() << kCases << " is absent";
    const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
    output_ = ::testing::TempDir() + "sim-case-" + test->name() + ".sm89trace";
  }
  void TearDown() override { fs::remove(output_); }

  // The case's trace, ready to run on the default RTX 4090.
  absl::StatusOr<std::unique_ptr<Simulator>> Create(const std::string& name) {
    expect_ = ReadExpect(std::string(kCases) + "/" + name + "/expect.txt");
    const auto ingested = IngestTrace(std::string(kCases) + "/" + name, output_, {});
    if (!ingested.ok()) return ingested.status();
    auto config = LoadConfig("RTX4090", {}, {});
    if (!config.ok()) return config.status();
    SimulatorOptions options;
    options.config = std::move(*config);
    options.trace_path = output_;
    return Simulator::Create(std::move(options));
  }

  std::string output_;
  std::map<std::string, std::string> expect_;
};

TEST_F(SimCase, BlockThatNeverFitsIsRefusedAtLaunch) {
  const auto simulator = Create("26-shmem-too-large");
  ASSERT_FALSE(simulator.ok());
  EXPECT_EQ(simulator.status().code(), absl::StatusCode::kInvalidArgument) << simulator.status();
  const std::vector<Fault> faults = FaultsOf(simulator.status());
  ASSERT_EQ(faults.size(), 1u) << simulator.status();
  EXPECT_EQ(faults[0].file, expect_["file"]);
  const std::map<std::string, std::string> facts(faults[0].facts.begin(), faults[0].facts.end());
  for (const char* key : {"shmem", "max_shmem_per_block"}) {
    ASSERT_TRUE(facts.contains(key)) << key << " in " << simulator.status();
    EXPECT_EQ(facts.at(key), expect_[key]);
  }
}

TEST_F(SimCase, KernelsOfAStreamRunInOrder) {
  const auto created = Create("18-two-streams");
  ASSERT_TRUE(created.ok()) << created.status();
  Simulator& simulator = **created;
  bool done = false;
  for (int step = 0; step < 1000 && !done; ++step) {
    const auto progress = simulator.Advance(100'000);
    ASSERT_TRUE(progress.ok()) << progress.status();
    done = progress->done;
  }
  ASSERT_TRUE(done);
  const RunReport report = simulator.Report();
  EXPECT_EQ(report.status, RunStatus::kComplete);
  ASSERT_EQ(std::to_string(report.kernels.size()), expect_["kernels"]);
  uint64_t warp_instructions = 0;
  std::map<uint64_t, uint64_t> end_of_stream;
  for (size_t i = 0; i < report.kernels.size(); ++i) {
    const KernelReport& kernel = report.kernels[i];
    EXPECT_EQ(kernel.info.file, "kernel-" + std::to_string(i + 1) + ".traceg") << "reports are in list order";
    EXPECT_TRUE(kernel.finished);
    EXPECT_LT(kernel.start_cycle, kernel.end_cycle);
    EXPECT_GE(kernel.start_cycle, end_of_stream[kernel.info.stream_id]) << kernel.info.file;
    end_of_stream[kernel.info.stream_id] = kernel.end_cycle;
    warp_instructions += kernel.info.warp_instructions;
  }
  EXPECT_EQ(std::to_string(warp_instructions), expect_["warp_insts"]);
  EXPECT_EQ(std::to_string(end_of_stream.size()), expect_["streams"]);
}

}  // namespace
}  // namespace sm89
