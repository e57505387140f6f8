#include "sim/ingest/cta_set.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <vector>

namespace sm89 {
namespace {

TEST(CtaSetTest, IdsInOrderAreOneRun) {
  CtaSet set;
  for (uint64_t id = 0; id < 1000; ++id) EXPECT_TRUE(set.Insert(id));
  EXPECT_EQ(set.num_runs(), 1u);
  EXPECT_EQ(set.size(), 1000u);
  EXPECT_TRUE(set.FirstMissing(1000, 5).empty());
  EXPECT_FALSE(set.Insert(0));
  EXPECT_FALSE(set.Insert(999));
}

TEST(CtaSetTest, NamesTheFirstMissingIdsOfAHugeGrid) {
  CtaSet set;
  set.Insert(0);
  set.Insert(2);
  EXPECT_EQ(set.FirstMissing(uint64_t{1} << 62, 3), (std::vector<uint64_t>{1, 3, 4}));
}

TEST(CtaSetTest, RunsThatMeetBecomeOne) {
  CtaSet set;
  set.Insert(1);
  set.Insert(3);
  EXPECT_EQ(set.num_runs(), 2u);
  set.Insert(2);
  EXPECT_EQ(set.num_runs(), 1u);
}

TEST(CtaSetTest, AgreesWithASetInAnyOrder) {
  std::mt19937 random(17);
  CtaSet set;
  std::set<uint64_t> model;
  for (int i = 0; i < 5000; ++i) {
    const uint64_t id = random() % 600;
    EXPECT_EQ(set.Insert(id), model.insert(id).second);
  }
  EXPECT_EQ(set.size(), model.size());
  std::vector<uint64_t> missing;
  for (uint64_t id = 0; id < 700; ++id) {
    if (!model.contains(id)) missing.push_back(id);
  }
  EXPECT_EQ(set.FirstMissing(700, 1000), missing);
}

}  // namespace
}  // namespace sm89
