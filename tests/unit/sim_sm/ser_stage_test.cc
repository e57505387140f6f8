// The reordering stage by itself: which warps are diverged, policies, what is kept.
#include "sim/sm/ser_stage.h"

#include <gtest/gtest.h>

namespace sm89 {
namespace {

SerConfig On(uint32_t aggressiveness = 100) {
  SerConfig config;
  config.enabled = true;
  config.aggressiveness_percent = aggressiveness;
  return config;
}

TEST(SerStage, DivergedIsSomeOfTheLanesThatTheWarpHas) {
  const SerStage stage(On());
  EXPECT_FALSE(stage.Diverged(~0u, ~0u));
  EXPECT_FALSE(stage.Diverged(0xFF, 0xFF)) << "a warp of eight threads that go together";
  EXPECT_TRUE(stage.Diverged(0x7FFF'FFFF, ~0u));
  EXPECT_TRUE(stage.Diverged(1, 0xFF));
  EXPECT_FALSE(stage.Diverged(0, ~0u)) << "nobody executes it";
}

TEST(SerStage, AggressivenessBoundsTheLanes) {
  const SerStage half(On(50));
  EXPECT_TRUE(half.Diverged(0xFFFF, ~0u));
  EXPECT_FALSE(half.Diverged(0x1FFFF, ~0u));
  const SerStage none(On(0));
  EXPECT_FALSE(none.Diverged(1, ~0u));
}

TEST(SerStage, MovingTakesTheLatencyAndTheTransfer) {
  SerConfig config = On();
  config.latency_cycles = 7;
  config.transfer_cycles = 5;
  EXPECT_EQ(SerStage(config).ExtraCycles(), 12u);
}

TEST(SerStage, TheProfileGuidedPolicyFollowsTheLastInterval) {
  SerConfig config = On(80);
  config.policy = 1;
  config.profile_interval_cycles = 1'000;
  SerStage stage(config);
  EXPECT_EQ(stage.aggressiveness_percent(), 80u) << "as set until something is known";
  for (Cycle cycle = 0; cycle < 1'000; ++cycle) stage.NoteIssue(cycle, {0, 0, ~0u, 0});
  stage.NoteIssue(1'000, {0, 0, ~0u, 0});
  EXPECT_EQ(stage.aggressiveness_percent(), 0u) << "nothing diverged";
  for (Cycle cycle = 1'001; cycle < 2'000; ++cycle) {
    stage.NoteIssue(cycle, {0, 0, 0xFF, cycle % 5 == 0 ? 0xFFFF'FF00 : 0});
  }
  stage.NoteIssue(2'500, {0, 0, ~0u, 0});
  EXPECT_EQ(stage.aggressiveness_percent(), 39u) << "twice a fifth";
  for (Cycle cycle = 3'000; cycle < 4'000; ++cycle) stage.NoteIssue(cycle, {0, 0, 1, ~1u});
  stage.NoteIssue(5'000, {0, 0, 1, ~1u});
  EXPECT_EQ(stage.aggressiveness_percent(), 80u) << "never above the setting";
}

TEST(SerStage, TheStaticPolicyStays) {
  SerConfig config = On(60);
  config.profile_interval_cycles = 10;
  SerStage stage(config);
  for (Cycle cycle = 0; cycle < 100; ++cycle) stage.NoteIssue(cycle, {0, 0, ~0u, 0});
  EXPECT_EQ(stage.aggressiveness_percent(), 60u);
}

TEST(SerStage, RecordsOnlyWhenAsked) {
  SerStage stage(On());
  stage.Record({.cycle = 1});
  EXPECT_TRUE(stage.records().empty());
  stage.set_recording(true);
  stage.Record({.cycle = 2});
  ASSERT_EQ(stage.records().size(), 1u);
  EXPECT_EQ(stage.records()[0].cycle, 2u);
}

}  // namespace
}  // namespace sm89
