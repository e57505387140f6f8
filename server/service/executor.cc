#include "server/service/executor.h"

#include <utility>

namespace sm89 {

Executor::Executor(size_t threads, size_t waiting_max) : waiting_max_(waiting_max) {
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

Executor::~Executor() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

bool Executor::Post(std::function<void()> task) {
  MutexLock lock(mutex_);
  if (stop_ || tasks_.size() >= waiting_max_) return false;
  tasks_.push_back(std::move(task));
  changed_.NotifyOne();
  return true;
}

void Executor::Run() {
  for (;;) {
    std::function<void()> task;
    {
      MutexLock lock(mutex_);
      while (tasks_.empty() && !stop_) changed_.Wait(mutex_);
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace sm89
