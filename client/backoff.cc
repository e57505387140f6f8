#include "client/backoff.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <random>

namespace sm89::client {
namespace {

constexpr double kFirstSeconds = 0.1;
constexpr double kMaxSeconds = 2.0;

// Spreads clients that lost the same server: 0.5 .. 1 of the nominal wait.
double Jitter() {
  thread_local std::minstd_rand engine{std::random_device{}()};
  return std::uniform_real_distribution<double>(0.5, 1.0)(engine);
}

}  // namespace

bool SleepUnlessStopped(double seconds, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock<std::mutex> lock(mutex);
  wake.wait_for(lock, stop, std::chrono::duration<double>(seconds), [] { return false; });
  return !stop.stop_requested();
}

Backoff::Backoff(double budget_seconds) : budget_seconds_(budget_seconds), next_seconds_(kFirstSeconds) {}

bool Backoff::Wait(std::stop_token stop, uint32_t at_least_seconds) {
  const auto now = std::chrono::steady_clock::now();
  if (!failing_) {
    failing_ = true;
    first_failure_ = now;
  }
  const double spent = std::chrono::duration<double>(now - first_failure_).count();
  const double left = budget_seconds_ - spent;
  if (left <= 0) return false;
  double wait = std::max(next_seconds_ * Jitter(), static_cast<double>(at_least_seconds));
  wait = std::min(wait, left);
  next_seconds_ = std::min(next_seconds_ * 2, kMaxSeconds);
  return SleepUnlessStopped(wait, stop);
}

void Backoff::Reset() {
  failing_ = false;
  next_seconds_ = kFirstSeconds;
}

}  // namespace sm89::client
