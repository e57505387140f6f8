// When to try again: exponential waits with jitter inside a time budget.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>

namespace sm89::client {

class Backoff {
 public:
  // `budget_seconds`: how long failures in a row are borne before Wait answers false.
  explicit Backoff(double budget_seconds);

  // Sleeps before the next try. False when the budget is used up or `stop` was requested: give up.
  // `at_least_seconds` is what the server asked for (cut to the budget's rest).
  bool Wait(std::stop_token stop, uint32_t at_least_seconds = 0);

  // Something worked: the budget starts anew at the next failure.
  void Reset();

 private:
  double budget_seconds_;
  double next_seconds_;
  bool failing_ = false;
  std::chrono::steady_clock::time_point first_failure_{};
};

// Sleeps, or returns false at once when `stop` is requested.
bool SleepUnlessStopped(double seconds, std::stop_token stop);

}  // namespace sm89::client
