// The one thread that moves jobs: calls the manager's Tick at a steady pace and when it is asked to.
#pragma once

#include <functional>
#include <thread>

#include "server/os/clock.h"
#include "server/os/mutex.h"

namespace sm89 {

class Ticker {
 public:
  Ticker(Duration interval, std::function<void()> tick);
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  void Start();
  // Waits for a running tick; there is none after it. Wake stays callable.
  void Stop();
  // Tick soon. From any thread, before Start too.
  void Wake();

 private:
  void Run();

  const Duration interval_;
  const std::function<void()> tick_;
  Mutex mutex_;
  CondVar changed_;
  bool wake_ SM89_GUARDED_BY(mutex_) = false;
  bool stop_ SM89_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace sm89
