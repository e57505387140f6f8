// Ends streams that bring nothing for too long.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <thread>

#include "server/os/clock.h"
#include "server/os/mutex.h"

namespace sm89 {

// Thread-safe. One thread for all streams.
class IdleWatch {
 public:
  // Streams are looked at every `interval`; zero = only when Check is called.
  IdleWatch(const Clock& clock, Duration limit, Duration interval);
  ~IdleWatch();
  IdleWatch(const IdleWatch&) = delete;
  IdleWatch& operator=(const IdleWatch&) = delete;

  using Key = const void*;
  // `on_idle` is called at most once, under the watch's lock: it must be quick and not call back.
  void Add(Key key, std::function<void()> on_idle);
  void Touch(Key key);
  // After this `on_idle` is not running and will not be called.
  void Remove(Key key);
  void Check();

 private:
  struct Entry {
    SteadyTime last;
    std::function<void()> on_idle;
  };
  void Loop();

  const Clock& clock_;
  const Duration limit_;
  const Duration interval_;
  Mutex mutex_;
  CondVar changed_;
  std::map<Key, Entry> entries_ SM89_GUARDED_BY(mutex_);
  bool stopping_ SM89_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace sm89
