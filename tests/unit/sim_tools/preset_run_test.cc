// Every preset simulates real kernels; the documents' examples of configurations give what they show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/str_split.h"
#include "sim/tools/exit_codes.h"
#include "sim/tools/sim_command.h"

namespace sm89 {
namespace {

using ::testing::HasSubstr;

struct Outcome {
  int code = -1;
  std::string out, err;
};

Outcome RunSim(const std::vector<std::string>& args) {
  std::ostringstream out, err;
  Outcome outcome;
  outcome.code = SimMain(args, {.out = out, .err = err, .err_is_terminal = false, .interrupted = nullptr});
  outcome.out = out.str();
  outcome.err = err.str();
  return outcome;
}

const std::string kKernels = SM89_SOURCE_DIR "/tests/data/kernels";

// vector_add (DRAM) and tensor_gemm (tensor cores) of the example suite: the table, and the report as JSON.
struct ExampleRun {
  Outcome outcome;
  nlohmann::json report;
};

ExampleRun RunExample(const std::string& config) {
  const std::string file = ::testing::TempDir() + "/sm89_preset_" + config + ".json";
  ExampleRun run;
  run.outcome = RunSim({"--suite", kKernels + "/suite.json", "--cubin-dir", kKernels, "--kernels", "1,4",
                        "--config", config, "--json", file});
  std::ifstream in(file, std::ios::binary);
  run.report = nlohmann::json::parse(in, nullptr, false);
  std::remove(file.c_str());
  return run;
}

class PresetRun : public ::testing::TestWithParam<std::string> {};

TEST_P(PresetRun, SimulatesTheExampleKernelsAndNamesItself) {
  const auto config = LoadConfig(GetParam(), {}, {});
  ASSERT_TRUE(config.ok()) << config.status();
  const auto [run, json] = RunExample(GetParam());
  ASSERT_EQ(run.code, kExitOk) << run.err;
  EXPECT_EQ(run.err, "") << "no warnings";
  EXPECT_EQ(json["complete"], true);
  EXPECT_EQ(json["config"]["name"], GetParam());
  EXPECT_EQ(json["config"]["num_sms"], config->gpu.sm.num_sms);
  EXPECT_EQ(json["config"]["l2_slices"], config->gpu.l2.slices);
  EXPECT_EQ(json["config"]["dram_channels"], config->gpu.dram.channels);
  ASSERT_EQ(json["kernels"].size(), 2u);
  for (const auto& kernel : json["kernels"]) EXPECT_GT(kernel["cycles"], 1000);
  // A product of 512 x 512 x 256 by mma m16n8k16.
  const auto& tensor = json["kernels"][1];
  EXPECT_EQ(tensor["statistics"]["sm"]["tensor_ops"], 2u * 512 * 512 * 256);
  EXPECT_EQ(tensor["statistics"]["sm"]["inst_tensor"], 512u * 512 * 256 / (16 * 8 * 16));
  EXPECT_GT(tensor["derived"]["tensor_utilization"], 0);
  EXPECT_LT(tensor["derived"]["tensor_utilization"], 100);
  // Each slice of a small vector_add's 2.4 MB does some of the work.
  for (const auto& row : json["units"]["l2_slices"]["rows"]) EXPECT_GT(row[0], 0);
  EXPECT_THAT(run.out, HasSubstr("\nconfig  " + GetParam() + "  "));
  EXPECT_THAT(run.out, HasSubstr("\ngpu     " + std::to_string(config->gpu.sm.num_sms) + " SMs at "));
  EXPECT_THAT(run.out, HasSubstr(" MHz, " + std::to_string(config->gpu.l2.slices) + " L2 slices, "));
  EXPECT_THAT(run.out, HasSubstr("\n   # tensor cores"));
}

std::vector<std::string> PresetNames() {
  std::vector<std::string> names;
  for (const PresetInfo& preset : Presets()) names.push_back(preset.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(All, PresetRun, ::testing::ValuesIn(PresetNames()),
                         [](const auto& preset) { return preset.param; });

// The console blocks of a document: "$ sm89-sim ..." and what it prints, to the byte.
struct Example {
  std::vector<std::string> args;
  std::string output;
};

std::vector<Example> ExamplesOf(const std::string& document) {
  std::vector<Example> examples;
  std::ifstream in(SM89_SOURCE_DIR "/" + document);
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      inside = line == "```console";
    } else if (inside && line.starts_with("$ sm89-sim ")) {
      examples.push_back({absl::StrSplit(line.substr(11), ' '), ""});
    } else if (inside && !examples.empty()) {
      examples.back().output += line + "\n";
    }
  }
  return examples;
}

class Documents : public ::testing::TestWithParam<std::string> {};

TEST_P(Documents, ShowWhatTheirExamplesPrint) {
  const std::vector<Example> examples = ExamplesOf(GetParam());
  EXPECT_FALSE(examples.empty());
  for (Example example : examples) {
    for (std::string& arg : example.args) {
      if (arg.starts_with("tests/")) arg = SM89_SOURCE_DIR "/" + arg;
    }
    const Outcome run = RunSim(example.args);
    EXPECT_EQ(run.out + run.err, example.output) << example.args[0];
  }
}
TEST(Readme, ShowsTheTableThatItsCommandPrints) {
  const std::string kernels = std::string(SM89_SOURCE_DIR) + "/tests/data/kernels";
  const Outcome run = RunSim({"--suite", kernels + "/suite.json", "--cubin-dir", kernels});
  ASSERT_EQ(run.code, kExitOk) << run.err;
  std::ifstream in(std::string(SM89_SOURCE_DIR) + "/README.md");
  int rows = 0;
  bool table = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("   # kernel")) table = true;
    if (line == "```") table = false;
    if (!table) continue;
    EXPECT_NE(run.out.find(line + "\n"), std::string::npos) << line << "\nis not in\n" << run.out;
    ++rows;
  }
  EXPECT_EQ(rows, 9) << "two lines of heading and seven kernels";
}

INSTANTIATE_TEST_SUITE_P(All, Documents, ::testing::Values("configs/README.md", "configs/TENSOR_CORES.md"),
                         [](const auto& document) {
                           const std::string& path = document.param;
                           return path.substr(8, path.find('.') - 8);
                         });

TEST(Show, ThingsOfAConfigurationInsteadOfARun) {
  const Outcome config = RunSim({"--config", "L4", "--set", "gpgpu_n_mem=6", "--show", "config"});
  EXPECT_EQ(config.code, kExitOk) << config.err;
  EXPECT_THAT(config.out, HasSubstr("\n-gpgpu_n_clusters 58  # preset L4/gpgpusim.config:"));
  EXPECT_THAT(config.out, HasSubstr("\n-gpgpu_n_mem 6  # override\n"));
  const Outcome tensor = RunSim({"--set", "gpgpu_sm89_tc_fp8_enabled=0", "--show", "tensor"});
  EXPECT_EQ(tensor.code, kExitOk) << tensor.err;
  EXPECT_THAT(tensor.out, HasSubstr("OFF: -gpgpu_sm89_tc_fp8_enabled 0"));
  const Outcome wrong = RunSim({"--show", "nothing"});
  EXPECT_EQ(wrong.code, kExitBadInput);
  EXPECT_THAT(wrong.err, HasSubstr("config or tensor"));
  EXPECT_EQ(wrong.out, "");
}

// From machine code, through the program's own path.
TEST(TensorSwitches, RefuseCodeThatUsesTheMode) {
  const std::string folder = SM89_SOURCE_DIR "/tests/data/kernels";
  const Outcome allowed =
      RunSim({"--suite", folder + "/suite.json", "--cubin-dir", folder, "--kernels", "4", "--set",
              "gpgpu_sm89_tc_sparse_enabled=0", "--set", "gpgpu_sm89_tc_fp8_enabled=0"});
  EXPECT_EQ(allowed.code, kExitOk) << "dense FP16: " << allowed.err;
  const std::string micro = SM89_SOURCE_DIR "/tests/accuracy/kernels";
  const Outcome refused = RunSim(
      {"--suite", micro + "/suite.json", "--cubin-dir", micro, "--set", "gpgpu_sm89_tc_sparse_enabled=0"});
  EXPECT_EQ(refused.code, kExitBadInput);
  EXPECT_THAT(refused.err, HasSubstr(".SP.16"));
  EXPECT_THAT(refused.err, HasSubstr("-gpgpu_sm89_tc_sparse_enabled 0 switches off"));
}

}  // namespace
}  // namespace sm89
