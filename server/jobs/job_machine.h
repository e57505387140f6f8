// The job state machine as pure functions: a job and what happened in, the next job out. The caller stores
// the answer before it acts on it. Anything that arrives too late (old fence, terminal state) changes
// nothing.
//
//   QUEUED -> STARTING -> RUNNING -> SUCCEEDED | FAILED
//     ^          |  |        |  ^
//     |          |  +-> LOST_CONTACT     (silent worker; back to RUNNING when it reports again)
//     +----------+------------+          (worker gone: again, up to attempts_max, then FAILED)
//   QUEUED -> CANCELLED;  STARTING, RUNNING, LOST_CONTACT -> CANCELLING -> CANCELLED (or SUCCEEDED when the
//   run ended before the cancel took effect)
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "server/jobs/job_types.h"

namespace sm89 {

struct RetryPolicy {
  uint32_t attempts_max = 3;  // a job that lost so many workers is not tried again
};

// Whether `from` may be followed by `to`. The whole table; every function below keeps to it.
bool TransitionAllowed(JobState from, JobState to);

// Each function gives the changed job (revision raised) or nothing when nothing changes.

// A worker takes the job. Requires kQueued.
Job Dispatched(const Job& job, const std::string& worker, uint64_t fence, int64_t now_unix_nanos);
// The worker reports: STARTING or LOST_CONTACT become RUNNING.
std::optional<Job> Reported(const Job& job);
// The lease ran out or the daemon restarted.
std::optional<Job> ContactLost(const Job& job, const std::string& why);
// Queued: CANCELLED. Active: CANCELLING. Else nothing.
std::optional<Job> CancelAsked(const Job& job, const std::string& why, int64_t now_unix_nanos);
// The run ended with a result.
std::optional<Job> Succeeded(const Job& job, const std::string& result_id, bool incomplete,
                             int64_t now_unix_nanos);
// Answered from the result cache. Requires kQueued and a job that never ran.
Job AnsweredFromCache(const Job& job, const std::string& result_id, bool incomplete, int64_t now_unix_nanos);
// The job itself is at fault (input, assertion, a limit): never tried again. A job being cancelled becomes
// CANCELLED instead.
std::optional<Job> Failed(const Job& job, JobError error, int64_t now_unix_nanos);
// The worker is gone without an answer, which is no fault of the job: queued again, or FAILED when it has
// cost attempts_max workers. A job being cancelled becomes CANCELLED.
std::optional<Job> AttemptLost(const Job& job, const std::string& why, const RetryPolicy& policy,
                               int64_t now_unix_nanos);
// A worker that was told to stop confirmed it: CANCELLING becomes CANCELLED; else nothing.
std::optional<Job> StopConfirmed(const Job& job, int64_t now_unix_nanos);
// A queued job that can no longer run (its trace is gone).
Job FailedInQueue(const Job& job, JobError error, int64_t now_unix_nanos);

}  // namespace sm89
