#include "server/jobs/job_machine.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"

namespace sm89 {
namespace {

constexpr uint8_t Bit(JobState s) { return static_cast<uint8_t>(1u << static_cast<unsigned>(s)); }

// Successors of each state, in the order of JobState.
constexpr std::array<uint8_t, kJobStates> kSuccessors = {
    /* QUEUED */ Bit(JobState::kStarting) | Bit(JobState::kCancelled) | Bit(JobState::kSucceeded) |
        Bit(JobState::kFailed),
    /* STARTING */ Bit(JobState::kRunning) | Bit(JobState::kLostContact) | Bit(JobState::kCancelling) |
        Bit(JobState::kSucceeded) | Bit(JobState::kFailed) | Bit(JobState::kQueued),
    /* RUNNING */ Bit(JobState::kLostContact) | Bit(JobState::kCancelling) | Bit(JobState::kSucceeded) |
        Bit(JobState::kFailed) | Bit(JobState::kQueued),
    /* LOST_CONTACT */ Bit(JobState::kRunning) | Bit(JobState::kCancelling) | Bit(JobState::kSucceeded) |
        Bit(JobState::kFailed) | Bit(JobState::kQueued),
    /* CANCELLING */ Bit(JobState::kCancelled) | Bit(JobState::kSucceeded),
    /* SUCCEEDED */ 0,
    /* FAILED */ 0,
    /* CANCELLED */ 0,
};

Job Moved(const Job& job, JobState to, std::string reason) {
  SM89_ASSERT(TransitionAllowed(job.state, to), "a job takes only the transitions of the table");
  Job next = job;
  next.state = to;
  next.reason = std::move(reason);
  next.revision = job.revision + 1;
  return next;
}

Job Ended(const Job& job, JobState to, std::string reason, int64_t now_unix_nanos) {
  SM89_ASSERT(IsTerminal(to), "only terminal states end a job");
  Job next = Moved(job, to, std::move(reason));
  next.place.worker.clear();
  next.times.end_unix_nanos = now_unix_nanos;
  return next;
}

}  // namespace

bool TransitionAllowed(JobState from, JobState to) {
  return (kSuccessors[static_cast<size_t>(from)] & Bit(to)) != 0;
}

Job Dispatched(const Job& job, const std::string& worker, uint64_t fence, int64_t now_unix_nanos) {
  SM89_ASSERT(job.state == JobState::kQueued, "only a queued job is dispatched");
  SM89_ASSERT(fence > job.place.fence, "fences grow");
  SM89_ASSERT(!worker.empty(), "an attempt has a worker");
  Job next = Moved(job, JobState::kStarting, absl::StrCat("given to workers/", worker));
  next.place.worker = worker;
  next.place.fence = fence;
  next.place.attempt = job.place.attempt + 1;
  next.times.start_unix_nanos = now_unix_nanos;
  return next;
}

std::optional<Job> Reported(const Job& job) {
  if (job.state == JobState::kStarting) return Moved(job, JobState::kRunning, "");
  if (job.state == JobState::kLostContact) {
    return Moved(job, JobState::kRunning, absl::StrCat("workers/", job.place.worker, " is back"));
  }
  return std::nullopt;
}

std::optional<Job> ContactLost(const Job& job, const std::string& why) {
  if (job.state != JobState::kStarting && job.state != JobState::kRunning) return std::nullopt;
  return Moved(job, JobState::kLostContact, why);
}

std::optional<Job> CancelAsked(const Job& job, const std::string& why, int64_t now_unix_nanos) {
  if (job.state == JobState::kQueued) return Ended(job, JobState::kCancelled, why, now_unix_nanos);
  if (job.state == JobState::kCancelling || !IsActive(job.state)) return std::nullopt;
  return Moved(job, JobState::kCancelling, why);
}

std::optional<Job> Succeeded(const Job& job, const std::string& result_id, bool incomplete,
                             int64_t now_unix_nanos) {
  SM89_ASSERT(!result_id.empty(), "a finished run has a result");
  if (!IsActive(job.state)) return std::nullopt;
  std::string reason = incomplete ? "a limit ended the run: statistics so far" : "";
  if (job.state == JobState::kCancelling) reason = "finished before the cancel took effect";
  Job next = Ended(job, JobState::kSucceeded, std::move(reason), now_unix_nanos);
  next.outcome.result_id = result_id;
  next.outcome.incomplete = incomplete;
  return next;
}

Job AnsweredFromCache(const Job& job, const std::string& result_id, bool incomplete, int64_t now_unix_nanos) {
  SM89_ASSERT(job.state == JobState::kQueued, "only a new job is answered from the cache");
  SM89_ASSERT(job.place.attempt == 0, "only a job that never ran is answered from the cache");
  Job next = Ended(job, JobState::kSucceeded, "the same question was answered before", now_unix_nanos);
  next.outcome.result_id = result_id;
  next.outcome.incomplete = incomplete;
  next.outcome.from_cache = true;
  return next;
}

std::optional<Job> Failed(const Job& job, JobError error, int64_t now_unix_nanos) {
  SM89_ASSERT(!error.code.empty(), "a failure has a code");
  if (!IsActive(job.state)) return std::nullopt;
  if (job.state == JobState::kCancelling) return StopConfirmed(job, now_unix_nanos);
  Job next = Ended(job, JobState::kFailed, error.message, now_unix_nanos);
  next.outcome.error = std::move(error);
  return next;
}

std::optional<Job> AttemptLost(const Job& job, const std::string& why, const RetryPolicy& policy,
                               int64_t now_unix_nanos) {
  SM89_ASSERT(policy.attempts_max > 0, "a job gets at least one attempt");
  if (!IsActive(job.state)) return std::nullopt;
  if (job.state == JobState::kCancelling) return StopConfirmed(job, now_unix_nanos);
  const uint32_t lost = job.place.lost_attempts + 1;
  if (lost >= policy.attempts_max) {
    JobError error;
    error.code = "INTERNAL";
    error.reason = "WORKER_LOST_REPEATEDLY";
    error.message = absl::StrCat("gave up after ", lost, " attempts whose worker was lost; the last: ", why);
    std::optional<Job> next = Failed(job, std::move(error), now_unix_nanos);
    next->place.lost_attempts = lost;
    return next;
  }
  Job next = Moved(job, JobState::kQueued,
                   absl::StrCat("queued again after attempt ", job.place.attempt, ": ", why));
  next.place.worker.clear();
  next.place.lost_attempts = lost;
  return next;
}

std::optional<Job> StopConfirmed(const Job& job, int64_t now_unix_nanos) {
  if (job.state != JobState::kCancelling) return std::nullopt;
  return Ended(job, JobState::kCancelled, job.reason, now_unix_nanos);
}

Job FailedInQueue(const Job& job, JobError error, int64_t now_unix_nanos) {
  SM89_ASSERT(job.state == JobState::kQueued, "only a queued job fails in the queue");
  Job next = Ended(job, JobState::kFailed, error.message, now_unix_nanos);
  next.outcome.error = std::move(error);
  return next;
}

}  // namespace sm89
