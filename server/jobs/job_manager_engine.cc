// What moves jobs by itself: recovery, timers, the pool's events, dispatch.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/jobs/job_manager.h"
#include "server/log/log.h"
#include "sim/base/assert.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

constexpr size_t kErrorTextBytesMax = 8192;

AttemptRef RefOf(const Job& job) { return {job.id, job.place.attempt, job.place.fence}; }

// A worker's own output inside a message: one kind of line end, nothing that a terminal would obey.
std::string Printable(const std::string& text) {
  std::string clean;
  for (const char c : text.substr(0, kErrorTextBytesMax)) {
    clean += (c == '\n' || c == '\t' || (c >= ' ' && c <= '~')) ? c : '?';
  }
  return clean;
}

JobError CrashError(const PoolEvent& event) {
  JobError error;
  error.code = "INTERNAL";
  error.reason = "WORKER_CRASHED";
  error.message = event.detail;
  const std::string text = Printable(event.stderr_tail);
  if (!text.empty()) absl::StrAppend(&error.message, "; it wrote:\n", text);
  return error;
}

JobError MemoryError(const PoolEvent& event, const Job& job) {
  JobError error;
  error.code = "RESOURCE_EXHAUSTED";
  error.reason = "MEMORY_LIMIT";
  error.message = absl::StrCat(event.detail, " of ", job.spec.memory_bytes, " bytes");
  return error;
}

}  // namespace

absl::Status JobManager::Recover() {
  Guard guard(*this);
  SM89_ASSERT(live_.empty(), "Recover is called once, first");
  ASSIGN_OR_RETURN(next_fence_, deps_.store.NextFence());
  ASSIGN_OR_RETURN(const auto counts, deps_.store.CountByState());
  for (const auto& [state, count] : counts) counts_[static_cast<size_t>(state)] = count;
  ASSIGN_OR_RETURN(std::vector<Job> jobs, deps_.store.LoadUnfinished());
  for (Job& job : jobs) {
    LiveJob& live = AddLive(std::move(job));
    if (IsActive(live.job.state)) RETURN_IF_ERROR(RecoverActive(live));
  }
  Log(LogLevel::kInfo, "jobs_recovered", {{"unfinished", live_.size()}, {"queued", queue_.size()}});
  return absl::OkStatus();
}

absl::Status JobManager::RecoverActive(LiveJob& live) {
  const Job& job = live.job;
  StartWallClock(live, job.times.start_unix_nanos);
  const bool awaited = deps_.pool.RestoreAttempt(
      job.place.worker, RefOf(job), job.state != JobState::kStarting, job.state == JobState::kCancelling);
  std::optional<Job> next;
  if (awaited) {
    next = ContactLost(job, absl::StrCat("the daemon was restarted; waiting for workers/", job.place.worker,
                                         " to come back"));
  } else {
    next = AttemptLost(job, "its worker was gone when the daemon was restarted", options_.retry,
                       deps_.clock.WallUnixNanos());
  }
  return next.has_value() ? Commit(live, *next) : absl::OkStatus();
}

void JobManager::StartWallClock(LiveJob& live, int64_t started_unix_nanos) {
  // Wall time only to bridge a restart; a clock that was set back or far ahead cannot stretch the limit.
  const Duration limit = std::chrono::seconds(live.job.spec.wall_seconds);
  const Duration used = std::clamp<Duration>(Duration(deps_.clock.WallUnixNanos() - started_unix_nanos),
                                             Duration::zero(), limit);
  live.wall_deadline = deps_.clock.SteadyNow() + (limit - used);
}

absl::Status JobManager::Commit(LiveJob& live, const Job& next) {
  const absl::Status stored = deps_.store.Update(live.job, next, deps_.clock.WallUnixNanos());
  if (!stored.ok()) {
    Log(LogLevel::kError, "job_not_stored",
        {{"job_id", live.job.id}, {"state", Name(next.state)}, {"error", stored.message()}});
    return stored;
  }
  Install(live, next);
  return absl::OkStatus();
}

void JobManager::Install(LiveJob& live, const Job& next) {
  const Job before = std::exchange(live.job, next);
  const SteadyTime now = deps_.clock.SteadyNow();
  double queued_seconds = 0;
  if (before.state == JobState::kQueued) {
    queue_.Remove(before);
    if (next.state != JobState::kQueued) {
      queued_seconds = std::chrono::duration<double>(now - live.queued_since).count();
    }
  }
  if (next.state == JobState::kQueued) {
    queue_.Add(next);
    if (before.state != JobState::kQueued) live.queued_since = now;
  }
  --counts_[static_cast<size_t>(before.state)];
  ++counts_[static_cast<size_t>(next.state)];
  live.progress_count = 0;
  if (next.place.fence != before.place.fence || !IsActive(next.state)) {
    live.progress = nullptr;
    live.artifacts.clear();
  }
  if (next.state != before.state) {
    Log(LogLevel::kInfo, "job_state",
        {{"job_id", next.id},
         {"state", Name(next.state)},
         {"attempt", next.place.attempt},
         {"worker_id", IsActive(next.state) ? next.place.worker : before.place.worker},
         {"reason", next.reason}});
  }
  hub_.StateChanged(next);
  deps_.observer.OnChanged(before, next, queued_seconds);
  if (IsTerminal(next.state)) live_.erase(next.id);
}

void JobManager::TakePoolEvents() {
  for (PoolEvent& event : deps_.pool.TakeEvents()) events_.push_back(std::move(event));
  while (!events_.empty()) {
    // What cannot be stored now stays first in line; the next tick tries again.
    if (!Handle(events_.front()).ok()) return;
    events_.pop_front();
  }
}

absl::Status JobManager::Handle(const PoolEvent& event) {
  LiveJob* live = FindAttempt(event.attempt);
  if (live == nullptr) return absl::OkStatus();  // it ended in another way
  const int64_t now = deps_.clock.WallUnixNanos();
  std::optional<Job> next;
  if (event.kind == PoolEvent::Kind::kContactLost) {
    next = ContactLost(live->job, event.detail);
  } else if (event.end == AttemptEnd::kCrashed) {
    next = Failed(live->job, CrashError(event), now);
  } else if (event.end == AttemptEnd::kMemoryLimit) {
    next = Failed(live->job, MemoryError(event, live->job), now);
  } else {
    next = AttemptLost(live->job, event.detail, options_.retry, now);
  }
  return next.has_value() ? Commit(*live, *next) : absl::OkStatus();
}

void JobManager::CheckWallLimits() {
  const SteadyTime now = deps_.clock.SteadyNow();
  std::vector<std::string> over;
  for (const auto& [id, live] : live_) {
    if (IsActive(live.job.state) && live.job.state != JobState::kCancelling && now >= live.wall_deadline) {
      over.push_back(id);
    }
  }
  for (const std::string& id : over) {
    LiveJob& live = live_.at(id);
    const AttemptRef attempt = RefOf(live.job);
    JobError error;
    error.code = "DEADLINE_EXCEEDED";
    error.reason = "WALL_LIMIT";
    error.message = absl::StrCat("the job ran for its limit of ", live.job.spec.wall_seconds, " s");
    const std::optional<Job> next = Failed(live.job, std::move(error), deps_.clock.WallUnixNanos());
    SM89_ASSERT(next.has_value(), "an active job can fail");
    if (!Commit(live, *next).ok()) return;
    deps_.pool.Evict(attempt, false);
  }
}

void JobManager::AnswerOldPolls() {
  const SteadyTime now = deps_.clock.SteadyNow();
  for (auto it = waiters_.begin(); it != waiters_.end();) {
    const auto here = it++;
    if (shutting_down_ || now >= here->second.deadline) Answer(here, {std::nullopt, shutting_down_});
  }
}

void JobManager::Dispatch() {
  if (shutting_down_) return;
  for (auto it = waiters_.begin(); it != waiters_.end() && !queue_.empty();) {
    const auto here = it++;
    if (!deps_.pool.CanTake(here->second.worker)) continue;
    if (!DispatchTo(here)) return;
  }
}

bool JobManager::DispatchTo(std::map<PollTicket, Waiter>::iterator waiter) {
  const std::string worker = waiter->second.worker;
  while (!queue_.empty()) {
    LiveJob& live = live_.at(queue_.front());
    const int64_t now = deps_.clock.WallUnixNanos();
    absl::StatusOr<InputPaths> paths = deps_.inputs.Paths(live.job.inputs);
    if (!paths.ok()) {
      JobError error;
      error.code = "FAILED_PRECONDITION";
      error.reason = "TRACE_GONE";
      error.message = std::string(paths.status().message());
      if (!Commit(live, FailedInQueue(live.job, std::move(error), now)).ok()) return false;
      continue;
    }
    const Job next = Dispatched(live.job, worker, next_fence_, now);
    if (!Commit(live, next).ok()) return false;
    ++next_fence_;
    StartWallClock(live, now);
    deps_.pool.Assign(worker, RefOf(live.job));
    Answer(waiter, {AssignmentOf(live, *std::move(paths)), false});
    return true;
  }
  return true;
}

void JobManager::Tick() {
  Guard guard(*this);
  deps_.pool.Tick();
  TakePoolEvents();
  CheckWallLimits();
  Dispatch();
  AnswerOldPolls();
  hub_.Tick();
}

void JobManager::BeginShutdown() {
  Guard guard(*this);
  shutting_down_ = true;
  deps_.pool.BeginShutdown();
  hub_.Drain();
  AnswerOldPolls();
}

bool JobManager::NothingRuns() {
  Guard guard(*this);
  return std::none_of(live_.begin(), live_.end(),
                      [](const auto& entry) { return IsActive(entry.second.job.state); });
}

std::vector<WorkerInfo> JobManager::Workers() {
  Guard guard(*this);
  return deps_.pool.Workers();
}

absl::Status JobManager::DrainPool(const std::string& worker) {
  Guard guard(*this);
  return deps_.pool.Drain(worker);
}

absl::Status JobManager::ResumePool(const std::string& worker) {
  Guard guard(*this);
  RETURN_IF_ERROR(deps_.pool.Resume(worker));
  Dispatch();
  return absl::OkStatus();
}

bool JobManager::draining() {
  Guard guard(*this);
  return shutting_down_ || deps_.pool.draining();
}

}  // namespace sm89
