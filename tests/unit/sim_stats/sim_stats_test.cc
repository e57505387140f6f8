#include "sim/stats/sim_stats.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <set>

namespace sm89 {
namespace {

constexpr size_t kWords = sizeof(SimStats) / sizeof(uint64_t);

// A block whose n-th counter holds Value(n): the structs hold nothing but uint64_t (static_assert beside
// the tables).
SimStats Numbered(uint64_t factor) {
  std::array<uint64_t, kWords> words;
  for (size_t i = 0; i < kWords; ++i) words[i] = (i + 1) * factor;
  return std::bit_cast<SimStats>(words);
}

TEST(SimStats, ValuesFollowTheMembers) {
  const SimStats stats = Numbered(1);
  const auto values = stats.Values();
  ASSERT_EQ(values.size(), kWords);
  for (size_t i = 0; i < kWords; ++i) EXPECT_EQ(values[i].value, i + 1) << values[i].def->name;
  EXPECT_EQ(values[0].def->name, "sm_warp_instructions");
  EXPECT_EQ(stats.sm.warp_instructions, 1u);
  EXPECT_EQ(values.back().def->name, "dram_queue_wait_cycles");
  EXPECT_EQ(stats.dram.queue_wait_cycles, kWords);
}

TEST(SimStats, NamedValuesAreTheNamedMembers) {
  SimStats stats;
  stats.sm.stall_barrier = 11;
  stats.l1.shared_bank_conflicts = 22;
  stats.noc.reply_bytes = 33;
  stats.l2.read_hits = 44;
  stats.dram.row_misses = 55;
  size_t found = 0;
  for (const StatValue& v : stats.Values()) {
    const uint64_t expected = v.def->name == "sm_stall_barrier"           ? 11
                              : v.def->name == "l1_shared_bank_conflicts" ? 22
                              : v.def->name == "noc_reply_bytes"          ? 33
                              : v.def->name == "l2_read_hits"             ? 44
                              : v.def->name == "dram_row_misses"          ? 55
                                                                          : 0;
    EXPECT_EQ(v.value, expected) << v.def->name;
    found += expected != 0 ? 1 : 0;
  }
  EXPECT_EQ(found, 5u);
}

TEST(SimStats, AddSumsEveryCounter) {
  SimStats stats = Numbered(1);
  stats.Add(Numbered(10));
  const auto values = stats.Values();
  for (size_t i = 0; i < kWords; ++i) EXPECT_EQ(values[i].value, 11 * (i + 1)) << values[i].def->name;
}

TEST(SimStats, DefinitionsAreUsable) {
  const auto defs = AllStatDefs();
  const auto values = SimStats{}.Values();
  ASSERT_EQ(defs.size(), values.size());
  std::set<std::string_view> names;
  std::set<std::string_view> ncu;
  size_t service = 0;
  for (size_t i = 0; i < defs.size(); ++i) {
    const StatDef& def = defs[i];
    EXPECT_EQ(&def, values[i].def);
    EXPECT_TRUE(names.insert(def.name).second) << def.name << " twice";
    EXPECT_EQ(def.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string_view::npos)
        << def.name;
    EXPECT_TRUE(def.help.ends_with('.')) << def.name;
    EXPECT_TRUE(def.ncu_metric.empty() || ncu.insert(def.ncu_metric).second) << def.ncu_metric << " twice";
    service += def.exported == StatExport::kService ? 1 : 0;
  }
  EXPECT_GT(service, 0u);
  EXPECT_LE(service, 36u);  // 18 warp states and as many others: what a scrape and a watcher carry
}

TEST(StatMerge, MaxKeepsTheLarger) {
  struct Block {
    uint64_t sum = 0;
    uint64_t max = 0;
  };
  constexpr std::array<StatField<Block>, 2> kTable = {
      StatField<Block>{{"sum", StatUnit::kEvents, "A sum."}, &Block::sum},
      StatField<Block>{{"max", StatUnit::kEvents, "A maximum.", "", StatExport::kReport, StatMerge::kMax},
                       &Block::max}};
  static_assert(DescribesAll(kTable));
  Block total{1, 7};
  Accumulate(kTable, Block{2, 5}, total);
  EXPECT_EQ(total.sum, 3u);
  EXPECT_EQ(total.max, 7u);
  Accumulate(kTable, Block{0, 9}, total);
  EXPECT_EQ(total.max, 9u);
}

TEST(StatUnit, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(StatUnit::kCtas); ++i) names.insert(Name(static_cast<StatUnit>(i)));
  EXPECT_EQ(names.size(), 9u);
  EXPECT_FALSE(names.contains("?"));
}

}  // namespace
}  // namespace sm89
