#include "server/service/idle_watch.h"

#include <utility>

namespace sm89 {

IdleWatch::IdleWatch(const Clock& clock, Duration limit, Duration interval)
    : clock_(clock), limit_(limit), interval_(interval) {
  if (interval_ > Duration::zero()) thread_ = std::thread([this] { Loop(); });
}

IdleWatch::~IdleWatch() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

void IdleWatch::Add(Key key, std::function<void()> on_idle) {
  MutexLock lock(mutex_);
  entries_[key] = {clock_.SteadyNow(), std::move(on_idle)};
}

void IdleWatch::Touch(Key key) {
  MutexLock lock(mutex_);
  if (const auto it = entries_.find(key); it != entries_.end()) it->second.last = clock_.SteadyNow();
}

void IdleWatch::Remove(Key key) {
  MutexLock lock(mutex_);
  entries_.erase(key);
}

void IdleWatch::Check() {
  MutexLock lock(mutex_);
  const SteadyTime now = clock_.SteadyNow();
  for (auto it = entries_.begin(); it != entries_.end();) {
    if (now - it->second.last < limit_) {
      ++it;
      continue;
    }
    it->second.on_idle();
    it = entries_.erase(it);
  }
}

void IdleWatch::Loop() {
  while (true) {
    {
      MutexLock lock(mutex_);
      if (!stopping_) changed_.WaitFor(mutex_, interval_);
      if (stopping_) return;
    }
    Check();
  }
}

}  // namespace sm89
