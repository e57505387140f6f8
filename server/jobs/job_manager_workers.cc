// The workers' half of JobManager.
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/jobs/job_manager.h"
#include "server/log/log.h"
#include "sim/base/assert.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

AttemptRef RefOf(const Job& job) { return {job.id, job.place.attempt, job.place.fence}; }

absl::Status NotCurrent(const AttemptRef& attempt) {
  return absl::AbortedError(absl::StrCat("attempt ", attempt.attempt, " of jobs/", attempt.job, " (fence ",
                                         attempt.fence, ") is not current any more"));
}

}  // namespace

absl::StatusOr<AttachGrant> JobManager::Attach(const AttachClaim& claim) {
  Guard guard(*this);
  ASSIGN_OR_RETURN(AttachGrant grant, deps_.pool.Attach(claim));
  TakePoolEvents();
  if (!grant.keep_running || !claim.running.has_value()) return grant;
  LiveJob* live = FindAttempt(*claim.running);
  if (live == nullptr) {
    grant.keep_running = false;
    return grant;
  }
  deps_.observer.OnReattached(live->job);
  const std::optional<Job> next = Reported(live->job);
  if (next.has_value()) RETURN_IF_ERROR(Commit(*live, *next));
  return grant;
}

JobManager::LiveJob* JobManager::FindAttempt(const AttemptRef& attempt) {
  LiveJob* live = FindLive(attempt.job);
  if (live == nullptr || !IsActive(live->job.state) || RefOf(live->job) != attempt) return nullptr;
  return live;
}

absl::StatusOr<PollTicket> JobManager::Poll(const std::string& session, PollCallback answer) {
  Guard guard(*this);
  ASSIGN_OR_RETURN(const PollVerdict verdict, deps_.pool.Poll(session));
  TakePoolEvents();
  for (auto it = waiters_.begin(); it != waiters_.end(); ++it) {
    if (it->second.worker != verdict.worker) continue;
    Answer(it, {});  // an older call of the same worker, whose connection is gone
    break;
  }
  const PollTicket ticket = next_poll_++;
  const auto [waiter, added] = waiters_.emplace(
      ticket, Waiter{verdict.worker, deps_.clock.SteadyNow() + options_.poll_wait, std::move(answer)});
  SM89_ASSERT(added, "poll tickets are unique");
  if (verdict.stop) {
    Answer(waiter, {std::nullopt, true});
    return PollTicket{0};
  }
  if (verdict.undelivered.has_value()) {
    LiveJob* live = FindAttempt(*verdict.undelivered);
    absl::StatusOr<InputPaths> paths = absl::NotFoundError("");
    if (live != nullptr) paths = deps_.inputs.Paths(live->job.inputs);
    if (paths.ok()) {
      Answer(waiter, {AssignmentOf(*live, *std::move(paths)), false});
      return PollTicket{0};
    }
    deps_.pool.Evict(*verdict.undelivered, false);
  }
  Dispatch();
  return waiters_.contains(ticket) ? ticket : PollTicket{0};
}

void JobManager::CancelPoll(PollTicket ticket) {
  Guard guard(*this);
  const auto it = waiters_.find(ticket);
  if (it != waiters_.end()) Answer(it, {});
}

void JobManager::Answer(std::map<PollTicket, Waiter>::iterator waiter, PollAnswer answer) {
  deferred_.push_back([callback = std::move(waiter->second.answer), answer = std::move(answer)]() mutable {
    callback(std::move(answer));
  });
  waiters_.erase(waiter);
}

Assignment JobManager::AssignmentOf(const LiveJob& live, InputPaths paths) const {
  Assignment assignment;
  assignment.attempt = RefOf(live.job);
  assignment.paths = std::move(paths);
  assignment.spec = live.job.spec;
  assignment.inputs = live.job.inputs;
  assignment.progress_interval_ms = options_.progress_interval_ms;
  assignment.scratch_dir = options_.scratch_dir;
  assignment.artifact_bytes_max = options_.artifact_bytes_max;
  return assignment;
}

absl::StatusOr<WorkerOrder> JobManager::Heartbeat(const std::string& session,
                                                  const std::optional<AttemptRef>& running,
                                                  const std::optional<JobProgress>& progress,
                                                  uint64_t memory_bytes) {
  Guard guard(*this);
  ASSIGN_OR_RETURN(const HeartbeatVerdict verdict, deps_.pool.Heartbeat(session, running, memory_bytes));
  TakePoolEvents();
  if (!verdict.current) return verdict.order;
  LiveJob* live = FindAttempt(*running);
  if (live == nullptr) {
    deps_.pool.Evict(*running, false);
    return WorkerOrder::kAbandon;
  }
  const std::optional<Job> next = Reported(live->job);
  if (next.has_value()) RETURN_IF_ERROR(Commit(*live, *next));
  if (ReachedMemoryLimit(*live, memory_bytes)) return WorkerOrder::kAbandon;
  if (progress.has_value()) TakeProgress(*live, *progress);
  return verdict.order;
}

bool JobManager::ReachedMemoryLimit(LiveJob& live, uint64_t memory_bytes) {
  const uint64_t limit = live.job.spec.memory_bytes;
  if (memory_bytes <= limit) return false;
  JobError error;
  error.code = "RESOURCE_EXHAUSTED";
  error.reason = "MEMORY_LIMIT";
  error.message = absl::StrCat("the job used ", memory_bytes, " bytes of memory, its limit is ", limit);
  const AttemptRef attempt = RefOf(live.job);
  const std::optional<Job> next = Failed(live.job, std::move(error), deps_.clock.WallUnixNanos());
  // When it cannot be stored now, the next heartbeat tries again.
  if (!next.has_value() || !Commit(live, *next).ok()) return false;
  deps_.pool.Evict(attempt, false);
  return true;
}

void JobManager::TakeProgress(LiveJob& live, const JobProgress& progress) {
  auto taken = std::make_shared<JobProgress>(progress);
  // Of a large kernel only some of a worker's reports hold the profile: the last one stays until the next.
  const std::optional<LiveProfile>* const last = live.progress != nullptr ? &live.progress->profile : nullptr;
  const bool stays = last != nullptr && last->has_value() && !taken->profile.has_value() &&
                     (*last)->kernel_index == progress.kernel.kernel_index;
  if (stays) taken->profile = *last;
  live.progress = std::move(taken);
  ++live.progress_count;
  hub_.Progress(live.job.id, SequenceOf(live.job.revision, live.progress_count), live.progress);
  deps_.observer.OnProgress(live.job, progress);
}

absl::Status JobManager::CheckAttempt(const std::string& session, const AttemptRef& attempt) {
  Guard guard(*this);
  ASSIGN_OR_RETURN(const std::string worker, deps_.pool.WorkerOf(session));
  const LiveJob* live = FindAttempt(attempt);
  if (live == nullptr || live->job.place.worker != worker) return NotCurrent(attempt);
  return absl::OkStatus();
}

absl::Status JobManager::AddArtifact(const std::string& session, const AttemptRef& attempt,
                                     const std::string& name, BlobPin pin) {
  RETURN_IF_ERROR(CheckAttempt(session, attempt));
  Guard guard(*this);
  LiveJob* live = FindAttempt(attempt);
  if (live == nullptr) return NotCurrent(attempt);
  if (!live->artifacts.contains(name) && live->artifacts.size() >= kArtifactsMax) {
    return absl::ResourceExhaustedError(absl::StrCat("an attempt has at most ", kArtifactsMax, " artifacts"));
  }
  live->artifacts.insert_or_assign(name, std::move(pin));
  return absl::OkStatus();
}

absl::StatusOr<bool> JobManager::Complete(const std::string& session, const AttemptRef& attempt,
                                          const Completion& completion) {
  Guard guard(*this);
  ASSIGN_OR_RETURN(const std::string worker, deps_.pool.WorkerOf(session));
  LiveJob* live = FindAttempt(attempt);
  if (live == nullptr) return CompletedBefore(attempt);
  if (live->job.place.worker != worker) return NotCurrent(attempt);
  return CompleteLive(*live, attempt, completion);
}

absl::StatusOr<bool> JobManager::CompletedBefore(const AttemptRef& attempt) {
  deps_.pool.Release(attempt);  // it was being evicted: the worker is done with it
  ASSIGN_OR_RETURN(const std::optional<Job> job, deps_.store.Find(attempt.job));
  if (!job.has_value() || !IsTerminal(job->state) || RefOf(*job) != attempt) return NotCurrent(attempt);
  return true;
}

absl::StatusOr<bool> JobManager::CompleteLive(LiveJob& live, const AttemptRef& attempt,
                                              const Completion& completion) {
  if (completion.final_progress.has_value()) TakeProgress(live, *completion.final_progress);
  if (completion.success) {
    RETURN_IF_ERROR(CommitResult(live, completion));
  } else {
    const int64_t now = deps_.clock.WallUnixNanos();
    std::optional<Job> next;
    if (completion.cancelled || completion.error.code == "UNAVAILABLE") {
      const std::string why =
          completion.cancelled ? std::string("the worker was told to stop") : completion.error.message;
      next = AttemptLost(live.job, why, options_.retry, now);
    } else {
      next = Failed(live.job, completion.error, now);
    }
    SM89_ASSERT(next.has_value(), "an active job ends or is queued again");
    RETURN_IF_ERROR(Commit(live, *next));
  }
  deps_.pool.Release(attempt);
  TakePoolEvents();
  Dispatch();
  return true;
}

absl::Status JobManager::CommitResult(LiveJob& live, const Completion& completion) {
  for (const std::string& name : PromisedArtifacts(live.job.spec)) {
    if (live.artifacts.contains(name)) continue;
    return absl::FailedPreconditionError(absl::StrCat("artifact ", name, " must be written before Complete"));
  }
  JobResult result;
  result.id = deps_.ids.NewId();
  result.summary = completion.summary;
  result.incomplete = completion.incomplete;
  for (const auto& [name, pin] : live.artifacts) {
    result.artifacts.push_back({name, pin.digest(), pin.size_bytes()});
  }
  const int64_t now = deps_.clock.WallUnixNanos();
  const std::optional<Job> next = Succeeded(live.job, result.id, result.incomplete, now);
  SM89_ASSERT(next.has_value(), "an active job can succeed");
  RETURN_IF_ERROR(deps_.store.UpdateWithResult(
      live.job, *next, {std::move(result), CacheKeyOf(live.job), live.artifacts}, now));
  Install(live, *next);
  return absl::OkStatus();
}

}  // namespace sm89
