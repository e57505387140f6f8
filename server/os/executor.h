// A few threads for work that may block (files, database), so that gRPC's own threads never do.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "server/os/mutex.h"

namespace sm89 {

// Tasks start in the order of Post. The queue has a bound so that a flood is refused, not stored.
// Thread-safe.
class Executor {
 public:
  using Task = std::function<void()>;

  Executor(size_t threads, size_t queue_max);
  // Runs what was accepted, then joins.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // False when the queue is full (the task is not run): the caller answers RESOURCE_EXHAUSTED.
  [[nodiscard]] bool Post(Task task);

 private:
  void Work();

  const size_t queue_max_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Task> queue_ SM89_GUARDED_BY(mutex_);
  bool stopping_ SM89_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace sm89
