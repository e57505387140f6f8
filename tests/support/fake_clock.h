// A clock that only the test moves. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "server/os/clock.h"

namespace sm89::testing {

class FakeClock final : public Clock {
 public:
  SteadyTime SteadyNow() const override { return SteadyTime(std::chrono::nanoseconds(steady_nanos_.load())); }
  int64_t WallUnixNanos() const override { return wall_nanos_.load(); }

  // Both clocks go on.
  void Advance(Duration by) {
    steady_nanos_ += by.count();
    wall_nanos_ += by.count();
  }
  // Somebody sets the machine's date; monotonic time goes on.
  void StepWall(Duration by) { wall_nanos_ += by.count(); }

 private:
  std::atomic<int64_t> steady_nanos_ = int64_t{1'000'000'000'000};
  std::atomic<int64_t> wall_nanos_ = int64_t{1'700'000'000'000'000'000};
};

}  // namespace sm89::testing
