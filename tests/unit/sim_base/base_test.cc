#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>

#include "sim/base/digest.h"
#include "sim/base/fault.h"
#include "sim/base/line_map.h"
#include "sim/base/slot_pool.h"
#include "sim/base/types.h"
#include "sim/link/event_wheel.h"

namespace sm89 {
namespace {

TEST(TypesTest, VolumesSaturateInsteadOfWrapping) {
  EXPECT_EQ(SaturatingVolume({2, 3, 4}), 24u);
  EXPECT_EQ(SaturatingVolume({2147483647, 65535, 65535}), 9223090559730712575u);
  EXPECT_EQ(SaturatingVolume({~0u, ~0u, ~0u}), ~uint64_t{0});
  EXPECT_EQ(SaturatingVolume({~0u, ~0u, 0}), 0u);
}

TEST(DigestTest, Sha256OfTheStandardsExample) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(FaultTest, StatusAndJsonCarryEveryField) {
  Fault fault{"kernel-1.traceg", 27, "pc", "0x30", "4 addresses", "an address is missing", {{"got", "3"}}};
  const absl::Status status = InputError(absl::StatusCode::kInvalidArgument, fault);
  EXPECT_EQ(status.message(),
            "kernel-1.traceg:27: an address is missing (pc = '0x30', expected 4 addresses)");
  const absl::Status back = StatusFromJson(StatusToJson(status));
  EXPECT_EQ(back.code(), status.code());
  EXPECT_EQ(back.message(), status.message());
  ASSERT_EQ(FaultsOf(back).size(), 1u);
  EXPECT_EQ(FaultsOf(back)[0].facts, fault.facts);
  EXPECT_EQ(FaultsOf(back)[0].line, 27u);
}

TEST(FaultTest, LongListsAreCutInTheTextOnly) {
  const std::vector<Fault> faults(50, Fault{.message = "bad"});
  const absl::Status status = InputError(absl::StatusCode::kInvalidArgument, "fifty faults", faults);
  EXPECT_NE(status.message().find("and 30 more"), absl::string_view::npos);
  EXPECT_EQ(FaultsOf(status).size(), 50u);
}

TEST(FaultTest, UnreadableTextBecomesInternal) {
  EXPECT_EQ(StatusFromJson("core dumped").code(), absl::StatusCode::kInternal);
  EXPECT_EQ(StatusFromJson(R"({"code":"NO_SUCH","message":"x"})").code(), absl::StatusCode::kInternal);
}

TEST(LineMapTest, BehavesLikeAMapUnderRandomInsertionsAndErasures) {
  std::mt19937_64 rng(7);
  LineMap map(64);
  std::map<uint64_t, uint32_t> model;
  for (int step = 0; step < 20'000; ++step) {
    const uint64_t key = rng() % 200 * 64;
    const auto it = model.find(key);
    ASSERT_EQ(map.Find(key), it == model.end() ? LineMap::kAbsent : it->second) << "step " << step;
    if (it != model.end()) {
      map.Erase(key);
      model.erase(it);
    } else if (model.size() < 64) {
      map.Insert(key, static_cast<uint32_t>(step));
      model[key] = static_cast<uint32_t>(step);
    }
    ASSERT_EQ(map.size(), model.size());
  }
}

TEST(EventWheelTest, GivesEventsByCycleThenByInsertionAlsoBeyondItsSpan) {
  std::mt19937_64 rng(11);
  EventWheel<uint32_t> wheel(6);
  std::multimap<Cycle, uint32_t> model;  // equal keys keep their order of insertion
  Cycle now = 0;
  uint32_t next_value = 0;
  for (int step = 0; step < 5'000; ++step) {
    for (uint64_t n = rng() % 4; n > 0; --n) {
      const Cycle at = now + rng() % (step % 7 == 0 ? 1000 : 50);
      wheel.Push(at, next_value);
      model.emplace(at, next_value++);
    }
    ASSERT_EQ(wheel.NextCycle(), model.empty() ? kNever : model.begin()->first);
    Cycle cycle = 0;
    uint32_t value = 0;
    if (wheel.Pop(now + 60, &cycle, &value)) {
      ASSERT_EQ(cycle, model.begin()->first);
      // Far events join their cycle's queue when they come into reach: only the cycle is common to both.
      auto it = model.lower_bound(cycle);
      while (it != model.end() && it->first == cycle && it->second != value) ++it;
      ASSERT_TRUE(it != model.end() && it->first == cycle);
      model.erase(it);
      now = cycle;
    }
  }
}

TEST(SlotPoolTest, PlacesAreTakenAgainAndNeverTwice) {
  SlotPool<uint64_t> pool;
  std::map<uint32_t, uint64_t> model;  // alive
  std::mt19937_64 random(7);
  size_t most = 0;
  uint32_t last_freed = 0;
  bool freed = false;
  for (uint64_t step = 0; step < 20'000; ++step) {
    if (model.empty() || random() % 5 < 3) {
      const uint32_t index = pool.Add(step);
      // Which place it is decides the order of some walks: the last freed.
      const bool reused = std::exchange(freed, false);
      ASSERT_TRUE(!reused || index == last_freed);
      ASSERT_TRUE(model.emplace(index, step).second) << "place " << index << " is in use";
    } else {
      auto it = std::next(model.begin(), static_cast<long>(random() % model.size()));
      ASSERT_EQ(pool[it->first], it->second);
      pool.Free(it->first);
      last_freed = it->first;
      freed = true;
      EXPECT_EQ(pool[it->first], it->second) << "readable until its place is taken";
      model.erase(it);
    }
    most = std::max(most, model.size());
    ASSERT_EQ(pool.size(), most);
  }
}

}  // namespace
}  // namespace sm89
