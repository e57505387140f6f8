// Warp states and their counters, and profiles by instruction added up.
#include "sim/stats/pc_profile.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/strings/str_cat.h"

namespace sm89 {
namespace {

WarpState State(int i) { return static_cast<WarpState>(i); }

TEST(WarpStates, HaveDistinctNames) {
  std::set<std::string_view> names;
  std::set<std::string_view> short_names;
  for (int i = 0; i < kNumWarpStates; ++i) {
    names.insert(Name(State(i)));
    short_names.insert(ShortName(State(i)));
  }
  EXPECT_EQ(names.size(), 18u);
  EXPECT_EQ(short_names.size(), 18u);
  EXPECT_EQ(ShortName(WarpState::kLongScoreboard), "long_sb");
  EXPECT_EQ(ShortName(WarpState::kBranchResolving), "branch");
  EXPECT_EQ(Name(WarpState::kMisc), "misc");
}

// Counting a state moves the statistic of its name and no other.
TEST(WarpStates, EachHasTheCounterOfItsName) {
  for (int i = 0; i < kNumWarpStates; ++i) {
    SimStats stats;
    stats.sm.*CounterOf(State(i)) = 7;
    const std::string expected = absl::StrCat("sm_stall_", std::string(Name(State(i))));
    size_t found = 0;
    for (const StatValue& v : stats.Values()) {
      if (v.value == 0) continue;
      EXPECT_EQ(std::string(v.def->name), expected);
      EXPECT_EQ(v.def->exported, StatExport::kService) << expected;
      ++found;
    }
    EXPECT_EQ(found, 1u) << expected;
  }
}

PcCounters Counters(uint64_t first) {
  PcCounters counters{.issued = first, .threads = first + 1, .cycles = {}};
  for (size_t s = 0; s < counters.cycles.size(); ++s) counters.cycles[s] = first + 2 + s;
  return counters;
}

TEST(PcProfile, AddsElementByElement) {
  PcProfile total = {Counters(100)};
  AddProfile({Counters(1), Counters(1000)}, &total);
  ASSERT_EQ(total.size(), 2u);
  EXPECT_EQ(total[0].issued, 101u);
  EXPECT_EQ(total[0].threads, 103u);
  for (size_t s = 0; s < total[0].cycles.size(); ++s) {
    EXPECT_EQ(total[0].cycles[s], 105 + 2 * s);
    EXPECT_EQ(total[1].cycles[s], 1002 + s);
  }
  EXPECT_EQ(total[1].issued, 1000u);

  AddProfile({Counters(1)}, &total);
  ASSERT_EQ(total.size(), 2u) << "a shorter profile takes nothing away";
  EXPECT_EQ(total[0].issued, 102u);
  EXPECT_EQ(total[1].issued, 1000u);
}

}  // namespace
}  // namespace sm89
