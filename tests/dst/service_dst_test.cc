// Deterministic simulation of the service: SM89_DST_SEEDS seeds (default 25), or the one of SM89_DST_SEED.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "server/log/log.h"
#include "tests/dst/world.h"

namespace sm89 {
namespace {

constexpr uint64_t kSeedsDefault = 25;
constexpr int kStepsWithFaults = 400;

uint64_t NumberFrom(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void RunSeed(uint64_t seed) {
  SCOPED_TRACE("to run this again alone: SM89_DST_SEED=" + std::to_string(seed));
  testing::World world(seed);
  for (int step = 0; step < kStepsWithFaults; ++step) world.Step();
  world.SettleAndCheck();
}

TEST(ServiceDst, NoJobIsLostOrRunTwiceWhateverFails) {
  LogOptions quiet;
  quiet.level = LogLevel::kError;
  quiet.to_stderr = std::getenv("SM89_DST_LOG") != nullptr;
  if (quiet.to_stderr) quiet.level = LogLevel::kDebug;
  ASSERT_TRUE(InitLogging(quiet).ok());
  const uint64_t one = NumberFrom("SM89_DST_SEED", 0);
  if (one != 0) {
    RunSeed(one);
    return;
  }
  const uint64_t seeds = NumberFrom("SM89_DST_SEEDS", kSeedsDefault);
  for (uint64_t seed = 1; seed <= seeds && !HasFailure(); ++seed) RunSeed(seed);
}

}  // namespace
}  // namespace sm89
