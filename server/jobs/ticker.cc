#include "server/jobs/ticker.h"

#include <utility>

namespace sm89 {

Ticker::Ticker(Duration interval, std::function<void()> tick) : interval_(interval), tick_(std::move(tick)) {}

Ticker::~Ticker() { Stop(); }

void Ticker::Stop() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
    changed_.NotifyOne();
  }
  if (thread_.joinable()) thread_.join();
}

void Ticker::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Ticker::Wake() {
  MutexLock lock(mutex_);
  wake_ = true;
  changed_.NotifyOne();
}

void Ticker::Run() {
  for (;;) {
    {
      MutexLock lock(mutex_);
      if (!wake_ && !stop_) changed_.WaitFor(mutex_, interval_);
      if (stop_) return;
      wake_ = false;
    }
    tick_();
  }
}

}  // namespace sm89
