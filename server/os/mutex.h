// std::mutex with Clang thread-safety annotations. The packaged absl::Mutex is not used: it is not
// instrumented, so ThreadSanitizer reports races that are none.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define SM89_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define SM89_THREAD_ATTRIBUTE(x)
#endif

#define SM89_GUARDED_BY(mutex) SM89_THREAD_ATTRIBUTE(guarded_by(mutex))
#define SM89_REQUIRES(...) SM89_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define SM89_EXCLUDES(...) SM89_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define SM89_ACQUIRE(...) SM89_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define SM89_RELEASE(...) SM89_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define SM89_NO_THREAD_SAFETY_ANALYSIS SM89_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace sm89 {

class SM89_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void Lock() SM89_ACQUIRE() { mutex_.lock(); }
  void Unlock() SM89_RELEASE() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class SM89_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) SM89_ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() SM89_RELEASE() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits use the monotonic clock. Spurious wake-ups happen: callers loop over their condition.
class CondVar {
 public:
  void Wait(Mutex& mutex) SM89_REQUIRES(mutex) SM89_NO_THREAD_SAFETY_ANALYSIS {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    cond_.wait(lock);
    lock.release();
  }
  // False when `timeout` passed without a notification.
  bool WaitFor(Mutex& mutex, std::chrono::nanoseconds timeout)
      SM89_REQUIRES(mutex) SM89_NO_THREAD_SAFETY_ANALYSIS {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const bool notified = cond_.wait_for(lock, timeout) == std::cv_status::no_timeout;
    lock.release();
    return notified;
  }
  void NotifyOne() { cond_.notify_one(); }
  void NotifyAll() { cond_.notify_all(); }

 private:
  std::condition_variable cond_;
};

}  // namespace sm89
