// The bundled example's whole report, number by number. SM89_UPDATE_GOLDEN=1 rewrites the file; say why in
// the commit that does.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "sim/api/simulator.h"
#include "sim/ingest/ingest.h"

namespace sm89 {
namespace {

std::string Example() { return std::string(SM89_SOURCE_DIR) + "/deploy/example"; }
std::string GoldenPath() { return std::string(SM89_SOURCE_DIR) + "/tests/golden/example.json"; }

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

TEST(GoldenTest, BundledExample) {
  const std::string actual = RunExample();
  ASSERT_FALSE(actual.empty());
  if (std::getenv("SM89_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(GoldenPath(), std::ios::binary) << actual;
    GTEST_SKIP() << "rewrote " << GoldenPath();
  }
  std::ifstream in(GoldenPath(), std::ios::binary);
  ASSERT_TRUE(in) << GoldenPath() << " is missing: run with SM89_UPDATE_GOLDEN=1";
  std::stringstream expected;
  expected << in.rdbuf();
  // Differences by path say more than two long texts.
  const nlohmann::json patch =
      nlohmann::json::diff(nlohmann::json::parse(expected.str()), nlohmann::json::parse(actual));
  std::string differences;
  for (size_t i = 0; i < patch.size() && i < 40; ++i) {
    differences += patch[i]["op"].get<std::string>() + " " + patch[i]["path"].get<std::string>();
    if (patch[i].contains("value")) differences += " -> " + patch[i]["value"].dump().substr(0, 100);
    differences += "\n";
  }
  EXPECT_EQ(differences, "");
  EXPECT_EQ(actual, expected.str()) << "same values, other bytes";
}

}  // namespace
}  // namespace sm89
