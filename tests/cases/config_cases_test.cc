// The configuration cases 40-47: each fact on the first line of expect.txt is checked.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/base/fault.h"
#include "sim/config/config.h"
#include "tests/support/expect_file.h"

namespace sm89 {
namespace {

namespace fs = std::filesystem;
using testing::ReadExpect;
using testing::SplitFact;

constexpr char kCases[] = SM89_SOURCE_DIR "/../shared/cases";

class ConfigCase : public ::testing::Test {
 protected:
  // Loads `entry` (default: the fact "entry", else gpu.config) of a case folder.
  void Load(const std::string& folder) {
    folder_ = std::string(kCases) + "/" + folder;
    if (!fs::exists(folder_)) GTEST_SKIP() << folder_ << " is absent";
    expect_ = ReadExpect(folder_ + "/expect.txt");
    ASSERT_TRUE(expect_.count("verdict")) << "no facts in " << folder_;
    const std::string entry = expect_.count("entry") ? expect_["entry"] : "gpu.config";
    result_ = LoadConfig(folder_ + "/" + entry, {}, {});
    faults_ = FaultsOf(result_.status());
    for (Fault& fault : faults_) fault.file = InFolder(fault.file);
    const bool accept = expect_["verdict"].rfind("accept", 0) == 0;
    ASSERT_EQ(result_.ok(), accept) << result_.status();
    if (accept) return;
    EXPECT_EQ(result_.status().code(), absl::StatusCode::kInvalidArgument);
    ASSERT_FALSE(faults_.empty());
    if (expect_.count("file")) {
      for (const Fault& fault : faults_) EXPECT_EQ(fault.file, expect_["file"]);
    }
  }

  std::string InFolder(const std::string& name) const {
    const std::string prefix = folder_ + "/";
    return name.rfind(prefix, 0) == 0 ? name.substr(prefix.size()) : name;
  }

  std::vector<std::string> FaultLines() const {
    std::vector<std::string> lines;
    for (const Fault& fault : faults_) lines.push_back(std::to_string(fault.line));
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  static std::string FactOf(const Fault& fault, const std::string& key) {
    for (const auto& [name, value] : fault.facts) {
      if (name == key) return value;
    }
    return "";
  }

  std::string Setting(const std::string& name) const {
    for (const ResolvedSetting& setting : result_->settings) {
      if (setting.name == name) return setting.value;
    }
    return "";
  }

  std::string folder_;
  std::map<std::string, std::string> expect_;
  absl::StatusOr<Config> result_ = absl::UnknownError("not loaded");
  std::vector<Fault> faults_;
};

TEST_F(ConfigCase, UnknownOption40) {
  Load("40-cfg-unknown-option");
  if (IsSkipped()) return;
  EXPECT_EQ(FaultLines(), SplitFact(expect_["lines"]));
  std::vector<std::string> suggestions;
  for (const Fault& fault : faults_) suggestions.push_back(FactOf(fault, "suggest"));
  EXPECT_EQ(suggestions, SplitFact(expect_["suggest"]));
}

TEST_F(ConfigCase, OptionTwice41) {
  Load("41-cfg-option-twice");
  if (IsSkipped()) return;
  for (const char* name : {"gpgpu_n_clusters", "gpgpu_l1_latency", "gpgpu_n_mem"}) {
    EXPECT_EQ(Setting("-" + std::string(name)), expect_[name]);
  }
  EXPECT_EQ(expect_["verdict"], "accept+warn");
  ASSERT_EQ(result_->warnings.size(), 1u);
  const ConfigWarning& warning = result_->warnings[0];
  EXPECT_EQ(InFolder(warning.file) + ":" + std::to_string(warning.line), expect_["warn_line"]);
  // Both lines are named, and the layer that came from the included file is not warned about.
  EXPECT_NE(warning.message.find("line 3"), std::string::npos) << warning.message;
  EXPECT_NE(warning.message.find("line 4"), std::string::npos) << warning.message;
  // The place that each value came from can be shown.
  const std::string dump = DumpConfig(*result_);
  EXPECT_NE(dump.find("-gpgpu_n_clusters 64  # file " + folder_ + "/run.config:2\n"), std::string::npos)
      << dump;
  EXPECT_NE(dump.find("-gpgpu_n_mem 24  # file " + folder_ + "/base.config:2\n"), std::string::npos) << dump;
}

TEST_F(ConfigCase, IncludeCycle42) {
  Load("42-cfg-include-cycle");
  if (IsSkipped()) return;
  ASSERT_EQ(faults_.size(), 1u);
  std::string cycle;
  for (const std::string& name : SplitFact(FactOf(faults_[0], "cycle"))) {
    cycle += (cycle.empty() ? "" : ",") + InFolder(name);
  }
  EXPECT_EQ(cycle, expect_["cycle"]);
  EXPECT_EQ(faults_[0].file, "c.config");
  EXPECT_EQ(faults_[0].line, 2u);
  for (const char* place : {"a.config:2", "sub/b.config:2", "c.config:2"}) {
    EXPECT_NE(faults_[0].message.find(folder_ + "/" + place), std::string::npos) << faults_[0].message;
  }
}

TEST_F(ConfigCase, MissingInclude43) {
  Load("43-cfg-missing-include");
  if (IsSkipped()) return;
  ASSERT_EQ(faults_.size(), 1u);
  EXPECT_EQ(std::to_string(faults_[0].line), expect_["line"]);
  EXPECT_EQ(FactOf(faults_[0], "missing"), expect_["missing"]);
  EXPECT_EQ(FactOf(faults_[0], "tried"), folder_ + "/" + expect_["missing"]);
  EXPECT_NE(faults_[0].message.find("not found"), std::string::npos) << faults_[0].message;
}

TEST_F(ConfigCase, FolderIsNoConfiguration43) {
  Load("43-cfg-missing-include");
  if (IsSkipped()) return;
  const auto folder = LoadConfig(folder_, {}, {});
  ASSERT_FALSE(folder.ok());
  EXPECT_NE(folder.status().message().find("is a directory"), absl::string_view::npos) << folder.status();
}

TEST_F(ConfigCase, NonNumeric44) {
  Load("44-cfg-non-numeric");
  if (IsSkipped()) return;
  EXPECT_EQ(FaultLines(), SplitFact(expect_["lines"]));
  std::map<uint64_t, std::string> messages;
  for (const Fault& fault : faults_) messages[fault.line] = fault.message;
  EXPECT_EQ(messages[1], "not a number");
  EXPECT_EQ(messages[2], "'x' follows the number");
  EXPECT_EQ(messages[3], "a whole number is needed, not a fraction");
  EXPECT_EQ(messages[4], "a negative value is not possible");
  EXPECT_EQ(messages[5], "3 of 4 clock fields");
  EXPECT_EQ(messages[6], "an option without a value");
}

TEST_F(ConfigCase, TabsAndComments45) {
  Load("45-cfg-tabs-comments");
  if (IsSkipped()) return;
  EXPECT_EQ(std::to_string(result_->options_read), expect_["options"]);
  for (const char* name : {"gpgpu_n_clusters", "gpgpu_n_mem", "gpgpu_l1_latency", "gpgpu_smem_latency",
                           "trace_sampling_memory_partition"}) {
    EXPECT_EQ(Setting("-" + std::string(name)), expect_[name]) << name;
  }
  EXPECT_EQ(result_->gpu.clocks.dram_khz, std::stod(expect_["dram_clock_mhz"]) * 1000);
}

TEST_F(ConfigCase, CacheString46) {
  Load("46-cfg-cache-string");
  if (IsSkipped()) return;
  EXPECT_EQ(FaultLines(), SplitFact(expect_["lines"]));
  EXPECT_EQ(expect_["line2"], "valid");
  ASSERT_EQ(faults_.size(), 3u);
  EXPECT_EQ(FactOf(faults_[0], "group"), "policy");
  EXPECT_EQ(FactOf(faults_[0], "field"), "set index");
  EXPECT_EQ(faults_[1].message, "group 'data port': 2 field(s) too many behind the last one");
  EXPECT_EQ(FactOf(faults_[2], "group"), "geometry");
  EXPECT_EQ(FactOf(faults_[2], "field"), "sets");
  for (const Fault& fault : faults_) {
    EXPECT_NE(fault.expected.find("sets:line bytes:ways"), std::string::npos) << fault.expected;
  }
}

TEST_F(ConfigCase, PartitionsAndHash47) {
  Load("47-cfg-partitions-hash");
  if (IsSkipped()) return;
  EXPECT_EQ(Setting("-gpgpu_n_mem"), expect_["gpgpu_n_mem"]);
  EXPECT_EQ(std::to_string(result_->gpu.l2.slices), expect_["slices"]);
  // Every hash on offer takes 24 channels and 48 slices.
  for (const char* hash : {"0", "1", "2"}) {
    const std::vector<NamedOverride> overrides = {{"gpgpu_memory_partition_indexing", hash}};
    const auto config = LoadConfig(folder_ + "/gpu.config", overrides, {});
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ(config->gpu.l2.slices, 48u);
  }
}

}  // namespace
}  // namespace sm89
