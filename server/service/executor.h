// A few threads for what gRPC's own threads must not do: files, database, locks that are held over an fsync.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "server/os/mutex.h"

namespace sm89 {

class Executor {
 public:
  Executor(size_t threads, size_t waiting_max);
  // Runs what was accepted, then ends.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // False (and `task` is dropped) when too many wait already.
  bool Post(std::function<void()> task);

 private:
  void Run();

  const size_t waiting_max_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::function<void()>> tasks_ SM89_GUARDED_BY(mutex_);
  bool stop_ SM89_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace sm89
