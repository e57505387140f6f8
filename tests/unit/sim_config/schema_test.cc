// The settings table: complete, unambiguous, and the source of the documents.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "sim/config/config.h"
#include "sim/config/setting_row.h"

namespace sm89::settings {
namespace {

// Number of members of an aggregate, by trying how many initialisers it takes.
struct Anything {
  template <class T>
  operator T() const;  // NOLINT: implicit on purpose, never defined
};
template <class T, class... Args>
constexpr size_t CountMembers() {
  if constexpr (requires { T{Args{}..., Anything{}}; }) {
    return CountMembers<T, Args..., Anything>();
  } else {
    return sizeof...(Args);
  }
}

std::multiset<const void*> BoundMembers(const GpuConfig& gpu) {
  std::multiset<const void*> bound;
  for (const Row& row : Table()) {
    if (!row.info.has_effect) continue;
    const auto members = row.binding.members(gpu);
    bound.insert(members.begin(), members.end());
  }
  return bound;
}

template <class T>
size_t BoundInside(const T& part, const GpuConfig& gpu) {
  const auto bound = BoundMembers(gpu);
  return static_cast<size_t>(std::distance(bound.lower_bound(&part), bound.lower_bound(&part + 1)));
}

TEST(Schema, EveryMemberHasExactlyOneRow) {
  const GpuConfig gpu;
  const auto bound = BoundMembers(gpu);
  for (const void* member : bound) EXPECT_EQ(bound.count(member), 1u) << "a member is bound twice";

  constexpr size_t kDerivedInSm = 2;  // num_sms, max_warps
  constexpr size_t kDerivedInL2 = 1;  // slices
  constexpr size_t kCache = CountMembers<CacheConfig>();
  constexpr size_t kUnitTimings = 15;  // members of ExecConfig that are two numbers
  EXPECT_EQ(BoundInside(gpu.clocks, gpu), CountMembers<ClockConfig>());
  EXPECT_EQ(BoundInside(gpu.sm, gpu) + kDerivedInSm, CountMembers<SmConfig>());
  EXPECT_EQ(BoundInside(gpu.front, gpu), CountMembers<FrontEndConfig>());
  EXPECT_EQ(BoundInside(gpu.constant, gpu), CountMembers<ConstantConfig>());
  EXPECT_EQ(BoundInside(gpu.registers, gpu), CountMembers<RegisterFileConfig>());
  EXPECT_EQ(BoundInside(gpu.tlb, gpu), CountMembers<TlbConfig>());
  EXPECT_EQ(BoundInside(gpu.exec, gpu), CountMembers<ExecConfig>() + kUnitTimings);
  EXPECT_EQ(BoundInside(gpu.l1, gpu), CountMembers<L1Config>() - 1 + kCache);
  EXPECT_EQ(BoundInside(gpu.noc, gpu), CountMembers<NocConfig>());
  EXPECT_EQ(BoundInside(gpu.l2, gpu) + kDerivedInL2,
            CountMembers<L2Config>() - 2 + kCache + CountMembers<L2FeatureConfig>());
  EXPECT_EQ(BoundInside(gpu.dram, gpu), CountMembers<DramConfig>());
  EXPECT_EQ(BoundInside(gpu.ser, gpu), CountMembers<SerConfig>());
  EXPECT_EQ(BoundInside(gpu.run, gpu), CountMembers<RunConfig>());
  EXPECT_EQ(BoundInside(gpu.name, gpu), 1u);
  // A new part of GpuConfig needs a line above.
  EXPECT_EQ(CountMembers<GpuConfig>(), 14u);
}

TEST(Schema, NamesAreDistinctAndWellFormed) {
  std::set<std::string> names;
  for (const SettingInfo& info : SettingsSchema()) {
    std::vector<std::string> all = info.aliases;
    all.push_back(info.name);
    for (const std::string& name : all) {
      EXPECT_TRUE(names.insert(name).second) << name;
      EXPECT_EQ(name[0], '-') << name;
      EXPECT_EQ(name.find_first_of(" \t\"#="), std::string::npos) << name;
      EXPECT_EQ(FindRow(name)->info.name, info.name);
    }
  }
  EXPECT_EQ(FindRow("-include"), nullptr) << "a directive, not a setting";
  EXPECT_EQ(FindRow("-config"), nullptr);
}

TEST(Schema, EveryRowIsDocumented) {
  for (const SettingInfo& info : SettingsSchema()) {
    EXPECT_FALSE(info.help.empty()) << info.name;
    EXPECT_FALSE(info.source.empty()) << info.name;
    EXPECT_FALSE(info.range.empty()) << info.name;
    EXPECT_FALSE(info.group.empty()) << info.name;
    EXPECT_EQ(info.default_value.empty(), !info.has_effect) << info.name;
  }
}

TEST(Schema, DefaultsReadBackToTheDefaults) {
  GpuConfig gpu;
  for (const Row& row : Table()) {
    if (!row.info.has_effect) continue;
    const Outcome bad = row.binding.read(row.info.default_value, &gpu);
    EXPECT_FALSE(bad) << row.info.name << ": " << (bad ? bad->message : "");
  }
  DeriveMembers(&gpu);
  EXPECT_EQ(gpu, GpuConfig{});
}

TEST(Schema, KnowsEveryNameOfGpgpuSim) {
  std::ifstream in(SM89_SOURCE_DIR "/../shared/design/gpgpusim-option-names.txt");
  if (!in) GTEST_SKIP() << "the list of GPGPU-Sim option names is absent";
  std::string name;
  size_t with_effect = 0;
  size_t without = 0;
  while (in >> name) {
    const Row* row = FindRow(name);
    ASSERT_NE(row, nullptr) << name;
    const SettingInfo& info = row->info;
    const std::string value = info.has_effect                          ? info.default_value
                              : info.type == SettingType::kCacheString ? "none"
                                                                       : "1";
    const std::vector<NamedOverride> override = {{name, value}};
    const auto config = LoadConfig("RTX4090", override, {});
    ASSERT_TRUE(config.ok()) << name << ": " << config.status();
    const auto strict = LoadConfig("RTX4090", override, {.strict = true});
    EXPECT_EQ(strict.ok(), info.has_effect) << name;
    ++(info.has_effect ? with_effect : without);
    if (info.has_effect) {
      EXPECT_TRUE(config->warnings.empty()) << name << ": " << config->warnings[0].message;
      continue;
    }
    ASSERT_EQ(config->warnings.size(), 1u) << name;
    EXPECT_EQ(config->warnings[0].message, info.name + " has no effect: " + info.help);
  }
  EXPECT_GE(with_effect, 30u);
  EXPECT_GT(with_effect + without, 200u);
}

TEST(Schema, NearestName) {
  EXPECT_EQ(NearestName("-gpugpu_shmem_option"), "-gpgpu_shmem_option");
  EXPECT_EQ(NearestName("--gpgpu_n_mem"), "-gpgpu_n_mem");
  EXPECT_EQ(NearestName("-gpgpu_clock_domain"), "-gpgpu_clock_domains");
  EXPECT_EQ(NearestName("-quite_another_thing"), "");
  EXPECT_EQ(NearestName("-"), "");
  EXPECT_EQ(NearestName(std::string(100'000, 'x')), "");
}

TEST(Schema, SettingsDocumentIsFresh) {
  std::ifstream in(SM89_SOURCE_DIR "/configs/SETTINGS.md", std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  EXPECT_EQ(text.str(), SettingsMarkdown()) << "run sm89-settings-doc configs/SETTINGS.md";
}

TEST(SettingsHelp, ListsAGroupOrAll) {
  const std::string all = SettingsHelp("");
  for (const SettingInfo& info : SettingsSchema()) {
    EXPECT_NE(all.find("  " + info.name), std::string::npos) << info.name;
  }
  const std::string dram = SettingsHelp("dram");
  EXPECT_NE(dram.find("-gpgpu_n_mem\n"), std::string::npos);
  EXPECT_NE(dram.find("Default: 24. Range: 1..256. Unit: channels."), std::string::npos) << dram;
  EXPECT_EQ(dram.find("-gpgpu_l1_latency"), std::string::npos);
  const std::string every = SettingsHelp("sm89");
  for (const SettingInfo& info : SettingsSchema()) {
    const std::string head = "\n  " + info.name;
    const size_t at = every.find(head + (info.aliases.empty() ? "\n" : ", "));
    ASSERT_EQ(at != std::string::npos, info.has_effect) << info.name;
    if (!info.has_effect) continue;
    for (const char* fact : {"Default: ", "Range: ", "Source: "})
      EXPECT_NE(every.find(fact, at), std::string::npos) << info.name;
  }
  for (const PresetInfo& preset : Presets())
    EXPECT_NE(every.find("  " + preset.name + "\n"), std::string::npos) << preset.name;
  EXPECT_NE(SettingsHelp("nothing").find("no group 'nothing'; groups: gpu clocks sm"), std::string::npos);
}

}  // namespace
}  // namespace sm89::settings
