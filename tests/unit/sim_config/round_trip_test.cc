// Laws of the settings table under random values, and the identity of a configuration.
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sim/config/binding.h"
#include "sim/config/config.h"
#include "sim/config/setting_row.h"

namespace sm89::settings {
namespace {

class RandomValues {
 public:
  explicit RandomValues(uint64_t seed) : engine_(seed) {}

  uint64_t Uint(uint64_t min, uint64_t max) { return min + engine_() % (max - min + 1); }

  std::string For(const SettingInfo& info) {
    switch (info.type) {
      case SettingType::kUint:
        return ForUint(info.range);
      case SettingType::kDouble:
        return ForDecimal(info.range);
      case SettingType::kBool:
        return Uint(0, 1) != 0 ? "1" : "0";
      case SettingType::kEnum:
        return ForChoice(info.range);
      case SettingType::kCacheString:
        return ForCache();
      case SettingType::kClockDomains:
        return Clock() + ":" + Clock() + ":" + Clock() + ":" + Clock();
      case SettingType::kString:
        return absl::StrCat("name-", Uint(0, 1'000'000));
      default:
        return ForList(info.name);
    }
  }

 private:
  static uint64_t Number(const std::string& text) { return std::stoull(text); }

  // "min..max" or "min..max, a power of two"
  std::string ForUint(const std::string& range) {
    const uint64_t min = Number(range);
    const uint64_t max = Number(range.substr(range.find("..") + 2));
    uint64_t value = Uint(min, max);
    if (range.find("power of two") != std::string::npos) {
      value = 1;
      while (value < min) value *= 2;
      for (uint64_t steps = Uint(0, 20); steps > 0 && value * 2 <= max; --steps) value *= 2;
    }
    return std::to_string(value);
  }
  // "min..max, at most N place(s) behind the dot"
  std::string ForDecimal(const std::string& range) {
    const uint64_t max = Number(range.substr(range.find("..") + 2));
    return std::to_string(Uint(Number(range), max - 1)) + "." + std::to_string(Uint(0, 9));
  }
  std::string Clock() { return std::to_string(Uint(1, 9'999)) + "." + std::to_string(Uint(100, 999)); }
  // "one of a (..), b (..)"
  std::string ForChoice(const std::string& range) {
    std::vector<std::string> words;
    for (size_t at = std::string("one of ").size();;) {
      words.push_back(range.substr(at, range.find(" (", at) - at));
      at = range.find("), ", at);
      if (at == std::string::npos) break;
      at += 3;
    }
    return words[Uint(0, words.size() - 1)];
  }
  char Letter(const std::string& letters) { return letters[Uint(0, letters.size() - 1)]; }
  std::string ForCache() {
    CacheConfig cache;
    cache.present = Uint(0, 20) != 0;
    if (!cache.present) return "none";
    cache.sectored = Uint(0, 1) != 0;
    cache.line_bytes = cache.sectored ? 128 : 32u << Uint(0, 5);
    cache.sets = static_cast<uint32_t>(Uint(1, 1 << 20));
    cache.ways = static_cast<uint32_t>(Uint(1, 4096));
    cache.replacement = Letter("LF");
    cache.write_policy = Letter("RBTEL");
    cache.allocate = Letter("mfs");
    cache.write_allocate = Letter("NWFL");
    cache.set_index = Letter("HPCLX");
    cache.mshr_kind = Letter("ASFT");
    cache.mshr_entries = static_cast<uint32_t>(Uint(1, 4096));
    cache.mshr_merges = static_cast<uint32_t>(Uint(1, 4096));
    cache.miss_queue_entries = static_cast<uint32_t>(Uint(1, 65536));
    cache.result_fifo_entries = static_cast<uint32_t>(Uint(0, 65536));
    cache.data_port_bytes = 1u << Uint(0, 5);
    return WriteCacheString(cache);
  }
  std::string ForList(const std::string& name) {
    if (name == "-gpgpu_shader_core_pipeline") return std::to_string(Uint(32, 4096)) + ":32";
    if (name == "-gpgpu_sm89_l2_compression_ranges") {
      std::string ranges;
      for (uint64_t left = Uint(0, 8); left > 0; --left) {
        const uint64_t first = Uint(0, 1 << 30);
        absl::StrAppend(&ranges, ranges.empty() ? "" : ",", first, "-", first + Uint(0, 1 << 30));
      }
      return ranges.empty() ? "none" : ranges;
    }
    if (name == "-gpgpu_shmem_option") {
      std::string sizes;
      uint64_t size = Uint(0, 10);
      for (uint64_t i = Uint(1, 10); i > 0; --i, size += Uint(1, 100))
        absl::StrAppend(&sizes, sizes.empty() ? "" : ",", size);
      return sizes;
    }
    if (name == "-gpgpu_dram_timing_opt") {
      std::string numbers = std::to_string(Uint(1, 1000));
      for (int i = 1; i < 14; ++i) absl::StrAppend(&numbers, ":", Uint(1, 1000));
      return numbers;
    }
    return std::to_string(Uint(1, 10'000)) + "," + std::to_string(Uint(1, 10'000));
  }

  std::mt19937_64 engine_;
};

// A value read, written, and read again is the same, for every setting and many values.
TEST(RoundTrip, EverySettingUnderRandomValues) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    RandomValues random(seed);
    GpuConfig gpu;
    std::string dump;
    for (const Row& row : Table()) {
      if (!row.info.has_effect) continue;
      const std::string text = random.For(row.info);
      const Outcome bad = row.binding.read(text, &gpu);
      ASSERT_FALSE(bad) << "seed " << seed << ": " << row.info.name << " = " << text << ": " << bad->message;
    }
    GpuConfig again;
    for (const Row& row : Table()) {
      if (!row.info.has_effect) continue;
      const std::string text = row.binding.write(gpu);
      const Outcome bad = row.binding.read(text, &again);
      ASSERT_FALSE(bad) << "seed " << seed << ": " << row.info.name << " = " << text << ": " << bad->message;
      EXPECT_EQ(row.binding.write(again), text) << "seed " << seed << ": " << row.info.name;
    }
    DeriveMembers(&gpu);
    DeriveMembers(&again);
    ASSERT_EQ(gpu, again) << "seed " << seed;
  }
}

// Settings that may each take a random value while the rules that bind several of them hold.
TEST(RoundTrip, DumpReadsBackToTheSameConfiguration) {
  const std::vector<std::string> free_settings = {
      "-gpgpu_l1_latency", "-gpgpu_smem_latency",
      "-gpgpu_shader_cta", "-gpgpu_clock_domains",
      "-gpgpu_scheduler",  "-gpgpu_memory_partition_indexing",
      "-gpgpu_sm89_name",  "-gpgpu_sm89_dram_base_latency",
      "-gpgpu_n_clusters", "-trace_opcode_latency_initiation_sfu"};
  std::set<std::string> digests;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    RandomValues random(seed);
    std::vector<NamedOverride> overrides;
    for (const std::string& name : free_settings)
      overrides.push_back({name, random.For(FindRow(name)->info)});
    // What any clock and any memory latency may be set beside.
    overrides.push_back({"-gpgpu_sm89_dram_refresh_interval", "1000000"});
    overrides.push_back({"-gpgpu_sm89_deadlock_cycles", "1000000000000"});
    const auto config = LoadConfig("RTX4090", overrides, {});
    ASSERT_TRUE(config.ok()) << "seed " << seed << ": " << config.status();
    const auto again = LoadConfigText("dump", DumpConfig(*config), {}, {});
    ASSERT_TRUE(again.ok()) << "seed " << seed << ": " << again.status();
    EXPECT_EQ(again->gpu, config->gpu) << "seed " << seed;
    EXPECT_EQ(again->digest, config->digest) << "seed " << seed;
    EXPECT_TRUE(DiffConfigs(*config, *again).empty()) << "seed " << seed;
    digests.insert(config->digest);
  }
  EXPECT_EQ(digests.size(), 100u);
}

TEST(Digest, OfThePresetIsKnown) {
  const auto config = LoadConfig("RTX4090", {}, {});
  ASSERT_TRUE(config.ok()) << config.status();
  // Changes with every default, setting and name: results cached under the old value are then not used.
  EXPECT_EQ(config->digest, "5efb3ab2f1dba8d571d6d8c60f4f99034fb528616e95b4122f658ca4668e73a0");
}

TEST(Digest, DependsOnValuesOnly) {
  const auto base = LoadConfigText("a", "-gpgpu_n_mem 24\n", {}, {});
  const auto spelt = LoadConfigText("b", "\n\n-gpgpu_n_mem 0x18 # same\n-gpgpu_n_clusters 0128", {}, {});
  const auto other = LoadConfigText("a", "-gpgpu_n_mem 23\n", {}, {});
  ASSERT_TRUE(base.ok() && spelt.ok() && other.ok());
  EXPECT_EQ(base->digest, spelt->digest);
  EXPECT_NE(base->digest, other->digest);
}

TEST(Digest, ChangesWithEverySettingThatHasAnEffect) {
  std::set<std::string> digests;
  size_t settings = 0;
  for (const Row& row : Table()) {
    if (!row.info.has_effect) continue;
    // The first random value that differs from the default and passes the rules.
    for (uint64_t seed = 1; seed < 2000; ++seed) {
      const std::string text = RandomValues(seed).For(row.info);
      const std::vector<NamedOverride> overrides = {{row.info.name, text}};
      const auto config = LoadConfigText("", "", overrides, {});
      if (!config.ok() || config->gpu == GpuConfig{}) continue;
      EXPECT_TRUE(digests.insert(config->digest).second) << row.info.name;
      ++settings;
      break;
    }
  }
  EXPECT_GT(settings, 60u) << "most settings must have a second value that the rules allow";
}

TEST(Diff, NamesWhatDiffers) {
  const auto left = LoadConfigText("left", "-gpgpu_n_mem 12 -visualizer_enabled 1", {}, {});
  const auto right = LoadConfigText("right", "-gpgpu_l1_latency 40", {}, {});
  ASSERT_TRUE(left.ok() && right.ok());
  const auto differences = DiffConfigs(*left, *right);
  ASSERT_EQ(differences.size(), 3u);
  EXPECT_EQ(differences[0].name, "-gpgpu_l1_latency");
  EXPECT_EQ(differences[0].left, "34");
  EXPECT_EQ(differences[0].right, "40");
  EXPECT_EQ(differences[1].name, "-gpgpu_n_mem");
  EXPECT_EQ(differences[2].name, "-visualizer_enabled");
  EXPECT_EQ(differences[2].right, "");
}

TEST(Json, HoldsValuesWithOrigins) {
  const std::vector<NamedOverride> overrides = {{"gpgpu_n_mem", "12"}};
  const auto config = LoadConfig("RTX4090", overrides, {});
  ASSERT_TRUE(config.ok());
  const auto json = nlohmann::json::parse(ConfigToJson(*config));
  EXPECT_EQ(json["digest"], config->digest);
  ASSERT_EQ(json["settings"].size(), config->settings.size());
  for (const auto& setting : json["settings"]) {
    if (setting["name"] == "-gpgpu_n_mem") {
      EXPECT_EQ(setting["value"], "12");
      EXPECT_EQ(setting["origin"]["kind"], "override");
    }
    if (setting["name"] == "-gpgpu_n_clusters") {
      EXPECT_EQ(setting["origin"]["kind"], "preset");
      EXPECT_EQ(setting["origin"]["file"], "RTX4090/gpgpusim.config");
      EXPECT_GT(setting["origin"]["line"], 0);
    }
  }
}

}  // namespace
}  // namespace sm89::settings
