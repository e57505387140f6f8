// Executing and simulating the kernels of tests/data/kernels: cycles, every statistic, and the digests of
// what they computed.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/launch/launch.h"
#include "sim/launch/outputs.h"
#include "tests/golden/golden_file.h"
#include "tests/support/example_kernels.h"

namespace sm89 {
namespace {

using Json = nlohmann::ordered_json;
using testing::ExampleKernelNames;
using testing::ExampleKernelPath;
using testing::ExampleKernelText;
using testing::ExampleRun;
using testing::RunExampleKernel;

// Rows of figures as one text each: a line of the file is a slice or a channel.
void ShortenUnits(Json& table) {
  for (Json* list : {&table["columns"], &table["rows"]}) {
    for (Json& row : *list) {
      if (!row.is_array()) continue;
      std::string text;
      for (const Json& figure : row) text += (text.empty() ? "" : " ") + figure.dump();
      row = text;
    }
  }
}

// The report without what tests/golden/example.json holds already (definitions, assumptions), what the digest
// of an output says too, and the totals, which are those of the one kernel.
std::string Shortened(const RunReport& report) {
  Json root = Json::parse(ReportToJson(report));
  EXPECT_EQ(root["kernels"].size(), 1u);
  Json& kernel = root["kernels"][0];
  EXPECT_EQ(root["totals"]["statistics"], kernel["statistics"]);
  EXPECT_EQ(root["totals"]["derived"], kernel["derived"]);
  for (const char* key : {"totals", "assumptions", "memcpy", "ignored_commands", "definitions"})
    root.erase(key);
  for (Json& output : kernel["outputs"]) {
    output.erase("head");
    output.erase("sample");
  }
  for (Json& table : root["units"]) ShortenUnits(table);
  return root.dump(1, ' ') + "\n";
}

class KernelGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(KernelGolden, ReportAndOutputs) {
  const auto run = RunExampleKernel(GetParam(), 1, 1'000'000);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->report.status, RunStatus::kComplete);
  testing::ExpectGolden("kernels/" + GetParam() + ".json", Shortened(run->report));
}

TEST_P(KernelGolden, OutputsAgreeWithSilicon) {
  const auto run = RunExampleKernel(GetParam(), 1, 1'000'000);
  ASSERT_TRUE(run.ok()) << run.status();
  const auto launches = launch::ReadLaunches(ExampleKernelPath(GetParam() + ".json"));
  ASSERT_TRUE(launches.ok()) << launches.status();
  const auto references = launch::ParseReference(ExampleKernelText("h200.json"), "h200.json");
  ASSERT_TRUE(references.ok()) << references.status();
  const auto reference = std::find_if(references->begin(), references->end(),
                                      [](const launch::ReferenceCase& r) { return r.id == GetParam(); });
  ASSERT_NE(reference, references->end());
  ASSERT_EQ(run->emulation->outcomes().size(), 1u);
  const LaunchOutcome& outcome = run->emulation->outcomes().front();
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.num_findings, 0u);
  EXPECT_EQ(outcome.result.outputs.size(), reference->outputs.size());
  const absl::Status same =
      launch::CompareWithReference(outcome.result, launches->launches.at(0).compare, *reference);
  EXPECT_TRUE(same.ok()) << same;
}

class ExactKernelGolden : public ::testing::TestWithParam<std::string> {};

// The golden file itself is held to silicon: it cannot be rewritten with other digests.
TEST_P(ExactKernelGolden, FileHasTheDigestsRecordedFromSilicon) {
  const auto launches = launch::ReadLaunches(ExampleKernelPath(GetParam() + ".json"));
  ASSERT_TRUE(launches.ok()) << launches.status();
  ASSERT_EQ(launches->launches.at(0).compare, launch::Compare::kExact);
  const std::string text = testing::GoldenText("kernels/" + GetParam() + ".json");
  ASSERT_FALSE(text.empty());
  const Json golden = Json::parse(text);
  const Json silicon = Json::parse(ExampleKernelText("h200.json")).at(GetParam()).at("outputs");
  const Json& outputs = golden.at("kernels").at(0).at("outputs");
  ASSERT_FALSE(silicon.empty());
  EXPECT_EQ(outputs.size(), silicon.size());
  for (const auto& [name, recorded] : silicon.items()) {
    EXPECT_EQ(outputs.at(name).at("sha256"), recorded.at("sha256")) << name;
  }
}

// All but tensor_gemm, whose sums Ada and Hopper add in another order.
INSTANTIATE_TEST_SUITE_P(All, ExactKernelGolden,
                         ::testing::Values("vector_add", "sgemm_tiled", "sgemm_register", "reduction",
                                           "divergent", "histogram"),
                         [](const auto& test) { return test.param; });

// suite.json runs all of them at once, each as its own launch file says.
TEST(KernelSuite, HasTheLaunchesOfTheLaunchFiles) {
  const Json suite = Json::parse(ExampleKernelText("suite.json"));
  const std::vector<std::string> kernels = ExampleKernelNames();
  ASSERT_EQ(suite.at("cases").size(), kernels.size());
  for (size_t i = 0; i < kernels.size(); ++i) {
    Json entry = suite["cases"][i];
    EXPECT_EQ(entry.value("module", ""), kernels[i]);
    entry.erase("module");
    const Json file = Json::parse(ExampleKernelText(kernels[i] + ".json"));
    EXPECT_EQ(nlohmann::json(entry), nlohmann::json(file.at("launches").at(0)));
  }
}

INSTANTIATE_TEST_SUITE_P(All, KernelGolden, ::testing::ValuesIn(ExampleKernelNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace sm89
