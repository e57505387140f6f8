// The presets: what each stands for, that they differ in layers only, and that they load without a word.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "sim/config/config.h"

namespace sm89 {
namespace {

// Published figures (configs/NAME/gpgpusim.config names their sources).
struct Published {
  const char* name;
  uint32_t sms, slices;
  double l2_mib, gb_per_s;
};
constexpr Published kPublished[] = {
    {"H200", 132, 94, 58.75, 4814},  // 60 MiB over 96 slices, of which 94 carry traffic
    {"L4", 58, 24, 48, 300},
    {"L40", 142, 48, 96, 864},
    {"RTX4060_LAPTOP", 24, 16, 32, 256},
    {"RTX4070", 46, 24, 36, 504},
    {"RTX4080", 76, 32, 64, 716.8},
    {"RTX4090", 128, 48, 72, 1008},
    {"RTX4090_ARTICLE", 128, 12, 72, 1008},
    {"RTX4090_SER", 128, 48, 72, 1008},
};

Config Load(const std::string& name, const ConfigOptions& options = {}) {
  const auto config = LoadConfig(name, {}, options);
  EXPECT_TRUE(config.ok()) << name << ": " << config.status();
  return config.ok() ? *config : Config{};
}

TEST(Presets, AreTheseAndEachSaysWhatItIs) {
  const std::vector<PresetInfo> presets = Presets();
  ASSERT_EQ(presets.size(), std::size(kPublished));
  for (size_t i = 0; i < presets.size(); ++i) {
    EXPECT_EQ(presets[i].name, kPublished[i].name);
    EXPECT_GT(presets[i].description.size(), 20u) << presets[i].name;
  }
}

TEST(Presets, LoadWithoutAWarningAndAreNamedAsTheirFolder) {
  for (const Published& published : kPublished) {
    const Config config = Load(published.name, {.strict = true});
    EXPECT_TRUE(config.warnings.empty()) << published.name << ": " << config.warnings[0].message;
    EXPECT_EQ(config.gpu.name, published.name);
  }
}

TEST(Presets, HaveThePublishedSizes) {
  for (const Published& published : kPublished) {
    const GpuConfig gpu = Load(published.name).gpu;
    EXPECT_EQ(gpu.sm.num_sms, published.sms) << published.name;
    EXPECT_EQ(gpu.l2.slices, published.slices) << published.name;
    const CacheConfig& cache = gpu.l2.cache;
    const double bytes = double{1} * gpu.l2.slices * cache.sets * cache.ways * cache.line_bytes;
    EXPECT_DOUBLE_EQ(bytes / (1 << 20), published.l2_mib) << published.name;
    const DramConfig& dram = gpu.dram;
    const double peak =
        1e3 * dram.channels * dram.channel_bits / 8 * dram.data_rate_multiplier * gpu.clocks.dram_khz / 1e9;
    EXPECT_NEAR(peak, published.gb_per_s, published.gb_per_s * 1e-3) << published.name;
    EXPECT_EQ(dram.ccd, 256 / (dram.channel_bits * dram.data_rate_multiplier))
        << published.name << ": column commands as fast as the data bus takes their data";
  }
}

TEST(Presets, OfAdaDifferFromTheRtx4090InTheirOwnFileOnly) {
  const Config base = Load("RTX4090");
  for (const Published& published : kPublished) {
    const std::string name = published.name;
    if (name == "H200" || name == "RTX4090") continue;
    const Config config = Load(name);
    std::set<std::string> own;
    for (const ResolvedSetting& setting : config.settings) {
      if (setting.origin.file == name + "/gpgpusim.config") own.insert(setting.name);
      EXPECT_NE(setting.origin.kind, "override");
    }
    const std::vector<ConfigDifference> differences = DiffConfigs(base, config);
    EXPECT_GE(differences.size(), 3u) << name;
    for (const ConfigDifference& difference : differences) {
      EXPECT_TRUE(own.count(difference.name)) << name << ": " << difference.name;
    }
  }
}

TEST(Presets, TheRtx4090IncludesTheLayersInTheDescribedOrder) {
  const auto text = PresetText("RTX4090");
  ASSERT_TRUE(text.ok()) << text.status();
  size_t at = 0;
  for (const char* layer : {"../common/base_architecture.cfg", "../sm89/sm89_microarch.cfg",
                            "../sm89/l2_partitioned.cfg", "../sm89/tc_strategy_registry.cfg"}) {
    const size_t found = text->find(std::string("\n-include ") + layer + "\n");
    ASSERT_NE(found, std::string::npos) << layer;
    EXPECT_GE(found, at);
    at = found;
  }
}

TEST(Presets, TheArticlesNumbersAreMarkedAsSuch) {
  const GpuConfig gpu = Load("RTX4090_ARTICLE").gpu;
  EXPECT_EQ(gpu.l2.slice_count, 12u);
  EXPECT_EQ(gpu.l2.slice_capacity_kib, 6144u);
  EXPECT_EQ(gpu.l2.slice_gb_per_s_x10, 1280u);
  EXPECT_EQ(gpu.l2.hash, 1u) << "modulo";
  for (const PresetInfo& preset : Presets()) {
    if (preset.name != "RTX4090_ARTICLE") continue;
    EXPECT_NE(preset.description.find("not the hardware's"), std::string::npos) << preset.description;
  }
}

TEST(SliceSettings, TakeThePlaceOfTheOlderOnes) {
  const auto config = LoadConfigText("text",
                                     "-gpgpu_sm89_l2_slice_count 96 -gpgpu_sm89_l2_slice_capacity_kb 768\n"
                                     "-gpgpu_cache:dl2 S:768:128:16,L:B:m:L:L,A:192:4,32:0,32",
                                     {}, {});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->gpu.l2.slices, 96u);
  EXPECT_EQ(config->gpu.l2.cache.sets, 384u);
  for (const ResolvedSetting& setting : config->settings) {
    if (setting.name == "-gpgpu_cache:dl2") {
      EXPECT_EQ(setting.origin.line, 1u) << "the sets shown are those of the capacity";
    }
  }
  const auto again = LoadConfigText("dump", DumpConfig(*config), {}, {});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->gpu, config->gpu);
  EXPECT_EQ(again->digest, config->digest);
}

}  // namespace
}  // namespace sm89
