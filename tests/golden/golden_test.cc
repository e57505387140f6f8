// The whole report of the text trace in deploy/example, number by number.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "sim/api/simulator.h"
#include "sim/ingest/ingest.h"
#include "tests/golden/golden_file.h"

namespace sm89 {
namespace {

std::string Example() { return std::string(SM89_SOURCE_DIR) + "/deploy/example"; }

std::string RunExample() {
  const std::string compact = ::testing::TempDir() + "/golden_" + std::to_string(getpid()) + ".sm89t";
  const auto ingested = IngestTrace(Example(), compact, {});
  EXPECT_TRUE(ingested.ok()) << ingested.status().message();
  const auto config = LoadConfig("RTX4090", {}, {});
  EXPECT_TRUE(config.ok()) << config.status().message();
  if (!ingested.ok() || !config.ok()) return "";
  SimulatorOptions options;
  options.config = *config;
  options.trace_path = compact;
  auto simulator = Simulator::Create(std::move(options));
  EXPECT_TRUE(simulator.ok()) << simulator.status().message();
  if (!simulator.ok()) return "";
  bool done = false;
  while (!done) {
    const auto progress = (*simulator)->Advance(1'000'000);
    EXPECT_TRUE(progress.ok()) << progress.status().message();
    done = !progress.ok() || progress->done;
  }
  std::remove(compact.c_str());
  return ReportToJson((*simulator)->Report());
}

TEST(GoldenTest, BundledTextTrace) { testing::ExpectGolden("example.json", RunExample()); }

}  // namespace
}  // namespace sm89
