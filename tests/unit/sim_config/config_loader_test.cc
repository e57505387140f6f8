// Layers, includes, origins, overrides, and the reporting of faults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/config/config.h"

namespace sm89 {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A folder of its own for each test.
class ConfigFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(::testing::TempDir()) / ("sm89_config_" + std::string(test->name()));
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string Write(const std::string& name, const std::string& text) {
    const fs::path path = root_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

  fs::path root_;
};

absl::StatusOr<Config> LoadText(const std::string& text, const std::vector<NamedOverride>& overrides = {}) {
  return LoadConfigText("text", text, overrides, {});
}

std::string ValueOf(const Config& config, const std::string& name) {
  for (const ResolvedSetting& setting : config.settings) {
    if (setting.name == name) return setting.value;
  }
  return "absent";
}

SettingOrigin OriginOf(const Config& config, const std::string& name) {
  for (const ResolvedSetting& setting : config.settings) {
    if (setting.name == name) return setting.origin;
  }
  return {};
}

std::string Place(const SettingOrigin& origin) {
  return origin.kind + " " + origin.file + ":" + std::to_string(origin.line);
}

// "line:field:message" of each fault.
std::vector<std::string> FaultList(const absl::StatusOr<Config>& result) {
  std::vector<std::string> list;
  for (const Fault& fault : FaultsOf(result.status())) {
    list.push_back(std::to_string(fault.line) + ":" + fault.field + ":" + fault.message);
  }
  return list;
}

TEST(ConfigText, EmptyTextIsTheDefaultGpu) {
  const auto config = LoadText("");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->gpu, GpuConfig{});
  EXPECT_TRUE(config->warnings.empty());
  EXPECT_EQ(config->options_read, 0u);
  EXPECT_EQ(OriginOf(*config, "-gpgpu_n_mem").kind, "default");
}

TEST(ConfigText, ValuesReachTheStructs) {
  const auto config = LoadText(
      "-gpgpu_clock_domains 1000:1100:1200.5:2000 -gpgpu_shader_core_pipeline 2048:32\n"
      "-gpgpu_shmem_option 0,32,96 -gpgpu_scheduler lrr -gpgpu_perf_sim_memcpy 0 "
      "-gpgpu_sm89_max_shmem_per_cta 8192\n"
      "-gpgpu_dram_buswidth 8 -dram_data_command_freq_ratio 4 -gpgpu_sm89_dram_base_latency 77.5\n"
      "-trace_opcode_latency_initiation_sfu 21,16 -gpgpu_sm89_slices_per_channel 3 -gpgpu_n_mem 10\n"
      "-gpgpu_n_clusters 10 -gpgpu_n_cores_per_cluster 2 -gpgpu_memory_partition_indexing 0\n");
  ASSERT_TRUE(config.ok()) << config.status();
  const GpuConfig& gpu = config->gpu;
  EXPECT_EQ(gpu.clocks, (ClockConfig{1'000'000, 1'100'000, 1'200'500, 2'000'000}));
  EXPECT_EQ(gpu.sm.max_threads, 2048u);
  EXPECT_EQ(gpu.sm.max_warps, 64u);
  EXPECT_EQ(gpu.sm.num_carveouts, 3u);
  EXPECT_EQ(gpu.sm.shmem_carveouts_kib[2], 96u);
  EXPECT_EQ(gpu.sm.shmem_carveouts_kib[3], 0u);
  EXPECT_EQ(gpu.sm.scheduler, 1u);
  EXPECT_FALSE(gpu.l2.memcpy_fills);
  EXPECT_EQ(gpu.dram.channel_bits, 64u);
  EXPECT_EQ(gpu.dram.base_latency_ns_x10, 775u);
  EXPECT_EQ(gpu.exec.sfu, (UnitTiming{21, 16}));
  EXPECT_EQ(gpu.l2.slices, 30u);
  EXPECT_EQ(gpu.l2.hash, 1u) << "linear indexing of GPGPU-Sim is the modulo of the address map";
  EXPECT_EQ(gpu.sm.num_sms, 20u);
}

TEST(ConfigText, DramTimingForms) {
  const char* const kNamed =
      "nbk=16:CCD=4:RRD=12:RCD=24:RAS=55:RP=24:RC=78:\n CL=24:WL=8:CDLR=10:WR=24:nbkgrp=4:CCDL=6:RTPL=4";
  const auto named = LoadText("-gpgpu_dram_timing_opt \"" + std::string(kNamed) + "\"");
  const auto ordered = LoadText("-gpgpu_dram_timing_opt 16:4:12:24:55:24:78:24:8:10:24:4:6:4");
  ASSERT_TRUE(named.ok()) << named.status();
  ASSERT_TRUE(ordered.ok()) << ordered.status();
  EXPECT_EQ(named->gpu.dram, ordered->gpu.dram);
  EXPECT_EQ(named->digest, ordered->digest);
  EXPECT_EQ(named->gpu.dram.ccdl, 6u);
  const auto fewer = LoadText(
      "-gpgpu_dram_timing_opt nbk=16:CCD=4:RRD=12:RCD=24:RAS=55:RP=24:RC=78:CL=24:WL=8:CDLR=10:WR=24");
  ASSERT_TRUE(fewer.ok()) << fewer.status();
  EXPECT_EQ(fewer->gpu.dram.bank_groups, 1u);
  EXPECT_EQ(fewer->gpu.dram.ccdl, 4u) << "one bank group: the long gap is the short one";
  EXPECT_THAT(FaultList(LoadText("-gpgpu_dram_timing_opt nbk=16:CCD=4")),
              ElementsAre("1:-gpgpu_dram_timing_opt:field 'RRD': missing"));
  EXPECT_THAT(FaultList(LoadText("-gpgpu_dram_timing_opt nbk=16:nbk=4")),
              ElementsAre("1:-gpgpu_dram_timing_opt:field 'nbk': given twice"));
  EXPECT_THAT(FaultList(LoadText("-gpgpu_dram_timing_opt FOO=1")),
              ElementsAre("1:-gpgpu_dram_timing_opt:unknown field 'FOO'"));
  EXPECT_THAT(FaultList(LoadText("-gpgpu_dram_timing_opt 16:4:12")),
              ElementsAre("1:-gpgpu_dram_timing_opt:3 of 14 numbers"));
}

TEST(ConfigText, EveryFaultIsReported) {
  const auto result = LoadText(
      "stray -gpgpu_n_mem 24 extra\n"
      "-gpgpu_n_mem=24\n"
      "-gpgpu_shmem_option 8,4\n"
      "-nothing_like_it 1 2 3\n"
      "-gpgpu_scheduler fifo\n"
      "-gpgpu_shader_core_pipeline 1536:64\n"
      "-gpgpu_l1_latency\n"
      "-gpgpu_smem_latency \"\"\n");
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(
      FaultList(result),
      ElementsAre("1::text that belongs to no option", "1::text that belongs to no option",
                  "2:-gpgpu_n_mem=24:unknown option", "3:-gpgpu_shmem_option:the sizes do not rise",
                  "4:-nothing_like_it:unknown option", "5:-gpgpu_scheduler:not one of the possible values",
                  "6:-gpgpu_shader_core_pipeline:field 'warp size': outside the range 32..32",
                  "7:-gpgpu_l1_latency:an option without a value",
                  "8:-gpgpu_smem_latency:the value is empty"));
  const std::vector<Fault> faults = FaultsOf(result.status());
  EXPECT_EQ(faults[2].facts[0].second, "-gpgpu_n_mem");
  EXPECT_THAT(faults[2].expected, HasSubstr("'='"));
  EXPECT_THAT(faults[5].expected, HasSubstr("lrr (loose round robin)"));
}

TEST(ConfigText, NumbersThatLookLikeOptionsAreValues) {
  const auto config = LoadText("-trace_sampling_core -1");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(ValueOf(*config, "-trace_sampling_core"), "-1");
}

TEST(ConfigText, OptionAndValueMayBeOnTwoLines) {
  const auto config = LoadText("-gpgpu_n_mem\n  12\n");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(Place(OriginOf(*config, "-gpgpu_n_mem")), "file text:1");
}

TEST(ConfigText, TwiceInOneFileIsAWarningAlsoByAlias) {
  const auto config = LoadText("-gpgpu_l1_latency 33\n\n-gpgpu_sm89_l1_latency 34\n-gpgpu_l1_latency 35");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->gpu.l1.latency_cycles, 35u);
  ASSERT_EQ(config->warnings.size(), 2u);
  EXPECT_EQ(
      config->warnings[0].message,
      "-gpgpu_l1_latency is given on line 1 and again on line 3 of the same file; the later value counts");
  EXPECT_EQ(config->warnings[1].line, 4u);
}

TEST(ConfigText, OptionsWithoutEffectWarnOnceAndSayWhy) {
  const auto config = LoadText(
      "-visualizer_enabled 0\n-visualizer_enabled 0\n-gpgpu_cache:il1 N:64:128:16,L:R:f:N:L,S:2:48,4");
  ASSERT_TRUE(config.ok()) << config.status();
  std::vector<std::string> messages;
  for (const ConfigWarning& warning : config->warnings)
    messages.push_back(std::to_string(warning.line) + ":" + warning.message);
  EXPECT_THAT(
      messages,
      ElementsAre(
          "1:-visualizer_enabled has no effect: what is written is said when a run is started, not in its "
          "configuration",
          "2:-visualizer_enabled is given on line 1 and again on line 2 of the same file; the later "
          "value counts",
          "3:-gpgpu_cache:il1 has no effect: instruction caches are set by -gpgpu_sm89_l0i_* and "
          "-gpgpu_sm89_l1i_*"));
  EXPECT_EQ(config->digest, LoadText("")->digest) << "what has no effect must not change the digest";
  EXPECT_EQ(config->options_read, 3u);
}

TEST(ConfigText, StrictRefusesOptionsWithoutEffect) {
  const auto result = LoadConfigText(
      "text", "-visualizer_enabled 0\n-gpgpu_n_mem 12\n-power_simulation_enabled 0", {}, {.strict = true});
  EXPECT_EQ(FaultsOf(result.status()).size(), 2u) << result.status();
  EXPECT_THAT(FaultList(result)[1], HasSubstr("3:-power_simulation_enabled:"));
}

TEST(ConfigText, ValuesThatTheModelDoesNotLookAtWarn) {
  const std::string text =
      "-gpgpu_cache:dl1 S:4:128:256,L:T:m:L:L,A:384:48,16:0,32\n-gpgpu_clock_domains 2520:2520:1800:5250.5";
  const auto config = LoadText(text);
  ASSERT_TRUE(config.ok()) << config.status();
  ASSERT_EQ(config->warnings.size(), 2u);
  EXPECT_EQ(config->warnings[0].line, 1u);
  EXPECT_THAT(
      config->warnings[0].message,
      HasSubstr(
          "-gpgpu_cache:dl1: not modelled, so without effect: policy allocation, policy write allocation;"));
  EXPECT_EQ(config->warnings[1].line, 2u);
  EXPECT_THAT(config->warnings[1].message, HasSubstr("L2 clock"));
  EXPECT_EQ(FaultsOf(LoadConfigText("text", text, {}, {.strict = true}).status()).size(), 2u);
}

TEST(ConfigText, Overrides) {
  const auto config =
      LoadText("-gpgpu_n_mem 12\n-gpgpu_n_clusters 64", {{"gpgpu_n_mem", "6"}, {"-gpgpu_n_mem", "8"}});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->gpu.dram.channels, 8u);
  EXPECT_EQ(OriginOf(*config, "-gpgpu_n_mem").kind, "override");
  EXPECT_EQ(OriginOf(*config, "-gpgpu_n_clusters").kind, "file");
  EXPECT_EQ(config->options_read, 2u);
  EXPECT_TRUE(config->warnings.empty());
}

TEST(ConfigText, OverrideFaultsComeWithThoseOfTheFile) {
  const auto result = LoadText(
      "-gpgpu_n_mem x", {{"gpgpu_n_men", "6"}, {"gpgpu_n_clusters", ""}, {"include", "RTX4090"}, {"", "1"}});
  EXPECT_THAT(FaultList(result), ElementsAre("1:-gpgpu_n_mem:not a number",
                                             "1:-gpgpu_n_men:unknown option; did you mean -gpgpu_n_mem?",
                                             "2:-gpgpu_n_clusters:the value is empty",
                                             "3:-include:unknown option", "4:-:unknown option"));
  EXPECT_EQ(FaultsOf(result.status())[1].file, "override");
}

TEST(ConfigText, OverrideCannotBreakTheDump) {
  for (const char* value : {"a\nb", "a\"b", "a#b", "\xFF", "\x01"}) {
    EXPECT_FALSE(LoadText("", {{"hw_perf_file_name", value}}).ok()) << value;
  }
  const auto config = LoadText("", {{"hw_perf_file_name", "two words"}, {"inter_config_file", ""}});
  ASSERT_TRUE(config.ok()) << config.status();
  const auto again = LoadText(DumpConfig(*config));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(ValueOf(*again, "-hw_perf_file_name"), "two words");
  EXPECT_EQ(ValueOf(*again, "-inter_config_file"), "");
}

TEST(ConfigText, IncludesReachPresetsOnly) {
  const auto by_name = LoadText("-include RTX4090\n-gpgpu_n_clusters 64");
  ASSERT_TRUE(by_name.ok()) << by_name.status();
  EXPECT_EQ(by_name->gpu.sm.num_sms, 64u);
  EXPECT_EQ(Place(OriginOf(*by_name, "-gpgpu_l1_latency")).substr(0, 30), "preset sm89/sm89_microarch.cfg");
  EXPECT_TRUE(LoadText("-include RTX4090/gpgpusim.config").ok());
  EXPECT_TRUE(LoadText("-include ./sm89/../sm89/l2_partitioned.cfg").ok());
  for (const char* outside :
       {"/etc/passwd", "../../etc/passwd", "sm89/../../etc/passwd", "text", ".", "RTX4090/", "sm89"}) {
    const auto result = LoadText(std::string("-include ") + outside);
    ASSERT_EQ(FaultsOf(result.status()).size(), 1u) << outside;
    EXPECT_THAT(FaultList(result)[0], HasSubstr("no built-in file of this name")) << outside;
  }
}

TEST(ConfigText, FaultsAndWarningsAreBounded) {
  std::string unknown;
  for (int i = 0; i < 60'000; ++i) unknown += "-gpgpu_n_men 1\n";
  const auto result = LoadText(unknown);
  const std::vector<Fault> faults = FaultsOf(result.status());
  EXPECT_LE(faults.size(), 1001u);
  EXPECT_GE(faults.size(), 1000u);
  std::string twice;
  for (int i = 0; i < 5000; ++i) twice += "-gpgpu_n_mem 24\n";
  const auto config = LoadText(twice);
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->warnings.size(), 1001u);
  EXPECT_FALSE(LoadText(std::string((1 << 20) + 1, ' ')).ok());
  EXPECT_TRUE(LoadText(std::string(1 << 20, ' ')).ok());
}

TEST(ConfigText, FaultTextIsValidUtf8) {
  const auto result = LoadConfigText(
      "lab\xFF"
      "el",
      "-gpgpu_n_mem \xFF\xFE\n-\xC3 1\n-include \xF0", {}, {});
  const std::vector<Fault> faults = FaultsOf(result.status());
  ASSERT_EQ(faults.size(), 3u);
  EXPECT_EQ(faults[0].file, "lab\\xffel");
  EXPECT_EQ(faults[0].value, "\\xff\\xfe");
  EXPECT_EQ(faults[1].field, "-\\xc3");
  EXPECT_EQ(faults[2].value, "\\xf0");
}

TEST_F(ConfigFiles, LayersOverrideSilentlyAndKeepTheirOrigin) {
  Write("sub/base.config", "-gpgpu_n_clusters 128\n-gpgpu_n_mem 12\n");
  const std::string entry =
      Write("run.config", "-gpgpu_n_clusters 32\n-include sub/base.config\n-gpgpu_l1_latency 40\n");
  const auto config = LoadConfig(entry, {}, {});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_TRUE(config->warnings.empty());
  EXPECT_EQ(config->gpu.sm.clusters, 128u) << "an include counts where it stands";
  const std::string folder = root_.string();
  EXPECT_EQ(Place(OriginOf(*config, "-gpgpu_n_clusters")), "file " + folder + "/sub/base.config:1");
  EXPECT_EQ(Place(OriginOf(*config, "-gpgpu_l1_latency")), "file " + entry + ":3");
  EXPECT_EQ(config->options_read, 4u);
}

TEST_F(ConfigFiles, FaultsOfAllFilesAreReportedTogether) {
  Write("a.config", "-gpgpu_n_mem x\n");
  Write("b.config", "\n-gpgpu_l1_latency -3\n");
  const std::string entry = Write(
      "run.config", "-include a.config\n-config b.config\n-include c.config\n-gpgpu_smem_latency 1.5\n");
  const auto result = LoadConfig(entry, {}, {});
  std::vector<std::string> places;
  for (const Fault& fault : FaultsOf(result.status())) {
    places.push_back(fs::path(fault.file).filename().string() + ":" + std::to_string(fault.line));
  }
  EXPECT_THAT(places, ElementsAre("a.config:1", "b.config:2", "run.config:3", "run.config:4"));
}

TEST_F(ConfigFiles, AFileMayBeIncludedTwiceWithoutACircle) {
  Write("base.config", "-gpgpu_n_mem 12\n");
  Write("left.config", "-include base.config\n");
  Write("right.config", "-include base.config\n");
  const std::string entry = Write("run.config", "-include left.config -include right.config\n");
  const auto config = LoadConfig(entry, {}, {});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_TRUE(config->warnings.empty());
}

TEST_F(ConfigFiles, AFileThatIncludesItselfIsACircle) {
  const std::string entry = Write("self.config", "-include ./self.config\n");
  EXPECT_THAT(FaultList(LoadConfig(entry, {}, {})),
              ElementsAre(HasSubstr("the includes run in a circle: " + entry + ":1")));
}

TEST_F(ConfigFiles, ACircleThroughALinkIsFound) {
  const std::string entry = Write("a.config", "-include b.config\n");
  fs::create_symlink("a.config", root_ / "b.config");
  EXPECT_THAT(FaultList(LoadConfig(entry, {}, {})), ElementsAre(HasSubstr("the includes run in a circle")));
}

TEST_F(ConfigFiles, ParentFoldersAreThoseOfTheFileSystem) {
  // Behind the link, "../" leads to real/, not to where the name of the link suggests.
  Write("real/deep/inner.config", "-include ../value.config\n");
  Write("real/value.config", "-gpgpu_n_mem 12\n");
  Write("value.config", "-gpgpu_n_mem 6\n");
  fs::create_directory_symlink(root_ / "real/deep", root_ / "link");
  const auto config = LoadConfig(Write("run.config", "-include link/inner.config\n"), {}, {});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->gpu.dram.channels, 12u);
}

TEST_F(ConfigFiles, DepthAndNumberOfIncludesAreBounded) {
  for (int i = 0; i < 40; ++i) {
    Write(absl::StrCat("d", i, ".config"), absl::StrCat("-include d", i + 1, ".config\n"));
  }
  Write("d40.config", "");
  EXPECT_THAT(FaultList(LoadConfig((root_ / "d0.config").string(), {}, {})),
              ElementsAre(HasSubstr("too many includes")));
  EXPECT_TRUE(LoadConfig((root_ / "d9.config").string(), {}, {}).ok()) << "32 files deep is allowed";
  EXPECT_FALSE(LoadConfig((root_ / "d8.config").string(), {}, {}).ok());

  // Each level names the next one twice: 2^20 files without a bound.
  for (int i = 0; i < 20; ++i) {
    const std::string line = absl::StrCat("-include t", i + 1, ".config\n");
    Write(absl::StrCat("t", i, ".config"), line + line);
  }
  Write("t20.config", "");
  const auto result = LoadConfig((root_ / "t0.config").string(), {}, {});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(FaultList(result)[0], HasSubstr("too many includes"));
}

TEST_F(ConfigFiles, WhatIsNoReadableFile) {
  EXPECT_EQ(LoadConfig((root_ / "absent.config").string(), {}, {}).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_THAT(LoadConfig(root_.string(), {}, {}).status().ToString(), HasSubstr("is a directory"));
  Write("folder/x", "");
  EXPECT_THAT(FaultList(LoadConfig(Write("run.config", "-include folder\n"), {}, {})),
              ElementsAre(HasSubstr("is a directory")));
  EXPECT_THAT(LoadConfig("/dev/zero", {}, {}).status().ToString(), HasSubstr("is not a regular file"));
  EXPECT_THAT(LoadConfig(Write("big", std::string((1 << 20) + 1, ' ')), {}, {}).status().ToString(),
              HasSubstr("is larger than"));
  const auto unknown = LoadConfig("RTX4091", {}, {});
  EXPECT_EQ(unknown.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(unknown.status().ToString(), HasSubstr("a preset: H200, L4, L40, RTX4060_LAPTOP, "));
  EXPECT_EQ(LoadConfig("", {}, {}).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ConfigFiles, AFileMayBuildOnAPreset) {
  const auto config = LoadConfig(Write("run.config", "-include RTX4090\n-gpgpu_n_clusters 64\n"), {}, {});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(OriginOf(*config, "-gpgpu_n_mem").kind, "preset");
  EXPECT_EQ(OriginOf(*config, "-gpgpu_n_clusters").kind, "file");
}

TEST(Presets, Rtx4090IsTheDefaultGpuAndSaysEverySetting) {
  const auto config = LoadConfig("RTX4090", {}, {.strict = true});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->gpu, GpuConfig{});
  EXPECT_TRUE(config->warnings.empty());
  for (const ResolvedSetting& setting : config->settings)
    EXPECT_EQ(setting.origin.kind, "preset") << setting.name;
  EXPECT_EQ(OriginOf(*config, "-gpgpu_n_clusters").file, "RTX4090/gpgpusim.config");
  EXPECT_EQ(OriginOf(*config, "-gpgpu_cache:dl2").file, "sm89/l2_partitioned.cfg");
  EXPECT_EQ(uint64_t{config->gpu.l2.slices} * config->gpu.l2.cache.sets * config->gpu.l2.cache.ways * 128,
            72u << 20);
}

TEST(Presets, AllLoadAndDescribeThemselves) {
  const std::vector<PresetInfo> presets = Presets();
  ASSERT_FALSE(presets.empty());
  for (const PresetInfo& preset : presets) {
    EXPECT_FALSE(preset.description.empty()) << preset.name;
    EXPECT_TRUE(LoadConfig(preset.name, {}, {.strict = true}).ok()) << preset.name;
    EXPECT_THAT(*PresetText(preset.name), HasSubstr("# preset: " + preset.description));
  }
  EXPECT_EQ(PresetText("none").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(PresetText("../RTX4090").status().code(), absl::StatusCode::kNotFound);
}

TEST(Presets, EmbeddedTextIsThatOfTheTree) {
  std::ifstream in(SM89_SOURCE_DIR "/configs/RTX4090/gpgpusim.config", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_EQ(*PresetText("RTX4090"), text);
}

}  // namespace
}  // namespace sm89
