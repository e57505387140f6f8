// Fans job changes out to watchers without ever waiting for one: each watcher holds at most a few state
// changes and one progress report; what does not fit is folded together.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/jobs/job_types.h"
#include "server/os/clock.h"
#include "server/os/mutex.h"

namespace sm89 {

struct WatchUpdate {
  enum class Kind : uint8_t { kSnapshot, kStateChange, kProgress, kServerDraining };
  uint64_t sequence = 0;
  Kind kind = Kind::kSnapshot;
  std::shared_ptr<const Job> job;               // kSnapshot, kStateChange
  std::shared_ptr<const JobProgress> progress;  // kProgress; kSnapshot when there is one
  uint64_t coalesced = 0;                       // updates folded into this one
};

struct WatchOptions {
  uint64_t from_sequence = 0;  // what the watcher has seen; 0 = nothing
  Duration min_interval{};     // progress no more often
};

class WatchHub;

// One watcher's slot. `wake` is called from any thread, without a lock held that the watcher could need,
// when Next may have something or the watch ended; it must be quick. Thread-safe.
class Watcher {
 public:
  // The next update, or nothing for now.
  std::optional<WatchUpdate> Next();
  // Nothing will come any more (terminal state or draining was taken by Next).
  bool finished() const;

 private:
  friend class WatchHub;
  Watcher(const Clock& clock, WatchOptions options, std::function<void()> wake);
  void PushState(WatchUpdate update) SM89_REQUIRES(mutex_);
  bool ProgressDue() const SM89_REQUIRES(mutex_);

  const Clock& clock_;
  const WatchOptions options_;
  const std::function<void()> wake_;
  mutable Mutex mutex_;
  std::deque<WatchUpdate> states_ SM89_GUARDED_BY(mutex_);
  std::optional<WatchUpdate> progress_ SM89_GUARDED_BY(mutex_);
  SteadyTime progress_sent_ SM89_GUARDED_BY(mutex_);
  bool last_taken_ SM89_GUARDED_BY(mutex_) = false;
};

// Not thread-safe by itself: the job manager calls it under its lock. Wake-ups are handed to `defer`, which
// runs them after that lock is released.
class WatchHub {
 public:
  using Defer = std::function<void(std::function<void()>)>;

  // `watchers_max` over all jobs.
  WatchHub(const Clock& clock, size_t watchers_max, Defer defer);

  // `job` is its present state, `progress` the latest report (may be null) with its sequence.
  // RESOURCE_EXHAUSTED when there are too many watchers; UNAVAILABLE while draining.
  absl::StatusOr<std::shared_ptr<Watcher>> Subscribe(const Job& job,
                                                     const std::shared_ptr<const JobProgress>& progress,
                                                     uint64_t sequence, const WatchOptions& options,
                                                     std::function<void()> wake);

  void StateChanged(const Job& job);
  void Progress(const std::string& job_id, uint64_t sequence, std::shared_ptr<const JobProgress> progress);
  // Wakes watchers whose held-back progress is due and forgets those that are gone.
  void Tick();
  // Every watcher gets kServerDraining as its last update; no new ones.
  void Drain();
  size_t watchers() const { return count_; }

 private:
  void Wake(const std::shared_ptr<Watcher>& watcher);
  // The living watchers of a job; dead ones are dropped on the way.
  std::vector<std::shared_ptr<Watcher>> Living(std::vector<std::weak_ptr<Watcher>>& list);

  const Clock& clock_;
  const size_t watchers_max_;
  const Defer defer_;
  std::map<std::string, std::vector<std::weak_ptr<Watcher>>> by_job_;
  size_t count_ = 0;  // entries of by_job_, dead ones included until they are met
  bool draining_ = false;
};

}  // namespace sm89
