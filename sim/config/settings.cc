// The settings table put together from its groups, and looked up.
#include <algorithm>
#include <iterator>
#include <map>

#include "sim/base/assert.h"
#include "sim/base/types.h"
#include "sim/config/setting_row.h"

namespace sm89::settings {
namespace {

constexpr size_t kLongestMisspelling = 100;

Row MakeRow(std::string_view group, RowSpec spec) {
  Row row;
  row.binding = std::move(spec.binding);
  SettingInfo& info = row.info;
  info.name = std::string(spec.name);
  info.aliases.assign(spec.aliases.begin(), spec.aliases.end());
  info.type = row.binding.type;
  info.unit = std::string(spec.unit);
  info.range = row.binding.range;
  info.help = std::string(spec.help);
  info.source = std::string(spec.source);
  info.group = std::string(group);
  info.has_effect = static_cast<bool>(row.binding.write);
  if (info.has_effect) info.default_value = row.binding.write(GpuConfig{});
  return row;
}

std::vector<Row> MakeTable() {
  struct Group {
    std::string_view name;
    std::vector<RowSpec> (*rows)();
  };
  constexpr Group kGroups[] = {
      {"gpu", NameRows},
      {"clocks", ClockRows},
      {"sm", SmRows},
      {"sm", SharedMemoryRows},
      {"front", FetchRows},
      {"front", InstructionCacheRows},
      {"constant", ConstantCacheRows},
      {"constant", ConstantTimingRows},
      {"registers", RegisterFileRows},
      {"exec", ExecRows},
      {"exec", OtherUnitRows},
      {"exec", SharedUnitRows},
      {"l1", L1Rows},
      {"l1", MemoryPipelineRows},
      {"l1", MemoryStepRows},
      {"tlb", TlbRows},
      {"noc", NocRows},
      {"l2", L2SliceRows},
      {"l2", L2TimingRows},
      {"l2", L2FeatureRows},
      {"dram", DramRows},
      {"dram", DramCommandRows},
      {"ser", SerRows},
      {"run", RunRows},
      {"compatibility", CompatibilityRows},
  };
  std::vector<Row> table;
  for (const Group& group : kGroups) {
    for (RowSpec& spec : group.rows()) table.push_back(MakeRow(group.name, std::move(spec)));
  }
  return table;
}

using Index = std::map<std::string_view, const Row*>;

Index MakeIndex(std::span<const Row> table) {
  Index index;
  for (const Row& row : table) {
    bool fresh = index.emplace(row.info.name, &row).second;
    for (const std::string& alias : row.info.aliases) fresh = index.emplace(alias, &row).second && fresh;
    SM89_ASSERT(fresh, "two settings share a name");
  }
  return index;
}

}  // namespace

std::span<const Row> Table() {
  static const auto& table = *new std::vector<Row>(MakeTable());
  return table;
}

const Row* FindRow(std::string_view name) {
  static const auto& index = *new Index(MakeIndex(Table()));
  const auto it = index.find(name);
  return it == index.end() ? nullptr : it->second;
}

std::string_view NearestName(std::string_view name) {
  if (name.size() > kLongestMisspelling) return {};
  // A quarter of the letters may differ; beyond that a suggestion misleads.
  size_t best = std::max<size_t>(name.size() / 4, 2) + 1;
  std::string_view nearest;
  for (const Row& row : Table()) {
    const size_t distance = EditDistance(name, row.info.name, best);
    if (distance >= best) continue;
    best = distance;
    nearest = row.info.name;
  }
  return nearest;
}

void DeriveMembers(GpuConfig* gpu) {
  gpu->sm.num_sms = gpu->sm.clusters * gpu->sm.sms_per_cluster;
  gpu->sm.max_warps = gpu->sm.max_threads / kWarpSize;
  L2Config& l2 = gpu->l2;
  l2.slices = l2.slice_count != 0 ? l2.slice_count : gpu->dram.channels * l2.slices_per_channel;
  const uint64_t way_bytes = uint64_t{l2.cache.line_bytes} * l2.cache.ways;
  const uint64_t bytes = uint64_t{l2.slice_capacity_kib} * 1024;
  // What does not divide is a broken rule (validate.cc) and keeps the cache string's sets.
  if (bytes != 0 && way_bytes != 0 && bytes % way_bytes == 0) {
    l2.cache.sets = static_cast<uint32_t>(bytes / way_bytes);
  }
}

}  // namespace sm89::settings

namespace sm89 {

std::span<const SettingInfo> SettingsSchema() {
  static const auto& schema = *new std::vector<SettingInfo>([] {
    std::vector<SettingInfo> all;
    for (const settings::Row& row : settings::Table()) all.push_back(row.info);
    return all;
  }());
  return schema;
}

}  // namespace sm89
