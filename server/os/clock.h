// The only road to the time of day. Injected, so that tests own the time.
#pragma once

#include <chrono>
#include <cstdint>

namespace sm89 {

// Monotonic: leases, deadlines, intervals. Never stored, never shown.
using SteadyTime = std::chrono::steady_clock::time_point;
using Duration = std::chrono::nanoseconds;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual SteadyTime SteadyNow() const = 0;
  // Wall time: what is stored and shown. May step; never subtract two of them to make a decision that a
  // lease hangs on. (Expiry of stored uploads uses it: hours, and a step only shifts it.)
  virtual int64_t WallUnixNanos() const = 0;
};

// The machine's clocks. Thread-safe, lives for ever.
const Clock& SystemClock();

}  // namespace sm89
