// Owner of every job: accepts, queues, hands to workers, ends, remembers. One lock; every change is committed
// to the database before it is acknowledged or acted on, so a kill -9 at any point loses nothing.
//
// Waiting callers (a worker's poll, a watcher) are woken by callbacks that run after the lock was released.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/jobs/job_inputs.h"
#include "server/jobs/job_limits.h"
#include "server/jobs/job_machine.h"
#include "server/jobs/job_observer.h"
#include "server/jobs/job_queue.h"
#include "server/jobs/job_store.h"
#include "server/jobs/job_types.h"
#include "server/jobs/watch_hub.h"
#include "server/os/clock.h"
#include "server/os/id_source.h"
#include "server/os/mutex.h"
#include "server/pool/pool_backend.h"

namespace sm89 {

struct JobManagerOptions {
  JobLimits limits;
  RetryPolicy retry;
  size_t queued_max = 10'000;
  size_t stored_max = 100'000;
  size_t watchers_max = 10'000;
  uint32_t progress_interval_ms = 500;
  Duration poll_wait = std::chrono::seconds(20);  // an idle worker's poll is answered at the latest
  std::string model_version;                      // part of every result-cache key
  std::string scratch_dir;                        // where workers keep large results until delivery
  uint64_t artifact_bytes_max = 0;                // of one result file
};

struct JobManagerDeps {
  const Clock& clock;
  IdSource& ids;
  JobStore& store;
  PoolBackend& pool;
  JobInputSource& inputs;
  JobObserver& observer;
};

struct SubmitRequest {
  JobSpec spec;
  std::string request_id;
  bool validate_only = false;
};

struct JobView {
  Job job;
  std::string reason;                           // the job's own, or why it is still pending
  std::shared_ptr<const JobProgress> progress;  // null when there is none
  uint64_t last_sequence = 0;
  std::vector<JobHistoryEntry> history;  // Get only
};

struct JobListQuery {
  uint32_t page_size = 50;
  std::string page_token;
  std::string filter;
};
struct JobListPage {
  std::vector<JobView> jobs;
  std::string next_page_token;
  uint64_t total = 0;
};

struct JobPatch {
  std::optional<std::map<std::string, std::string>> labels;
  std::optional<int32_t> priority;
  std::string etag;  // empty = any
};

// Everything a worker needs for one attempt.
struct Assignment {
  AttemptRef attempt;
  InputPaths paths;
  JobSpec spec;
  JobInputs inputs;
  uint32_t progress_interval_ms = 0;
  std::string scratch_dir;
  uint64_t artifact_bytes_max = 0;
};
struct PollAnswer {
  std::optional<Assignment> assignment;
  bool stop = false;
};
using PollCallback = std::function<void(PollAnswer)>;
// Names a waiting poll; 0 = it was answered at once.
using PollTicket = uint64_t;

struct Completion {
  bool success = false;
  std::string summary;  // success: opaque typed result
  bool incomplete = false;
  bool cancelled = false;  // not success: the worker stopped because it was told to
  JobError error;          // not success, not cancelled
  std::optional<JobProgress> final_progress;
};

struct JobCounts {
  std::array<uint64_t, kJobStates> by_state{};
  double oldest_queued_seconds = 0;
  size_t watchers = 0;
};

std::string EtagOf(const Job& job);

class JobManager {
 public:
  JobManager(JobManagerOptions options, JobManagerDeps deps);
  ~JobManager();

  // Once, before serving and after the pool's Start: every stored job is taken up again.
  absl::Status Recover();

  // --- Clients. NOT_FOUND for unknown ids.
  absl::StatusOr<JobView> Submit(const SubmitRequest& request);
  absl::StatusOr<JobView> Get(const std::string& id);
  absl::StatusOr<JobListPage> List(const JobListQuery& query);
  // Idempotent. FAILED_PRECONDITION when it ended otherwise already.
  absl::StatusOr<JobView> Cancel(const std::string& id, const std::string& reason);
  absl::StatusOr<JobView> Update(const std::string& id, const JobPatch& patch);
  absl::Status Delete(const std::string& id, const std::string& etag, bool allow_missing);
  absl::StatusOr<std::shared_ptr<Watcher>> Watch(const std::string& id, const WatchOptions& options,
                                                 std::function<void()> wake);
  // FAILED_PRECONDITION unless it SUCCEEDED.
  absl::StatusOr<JobResult> Result(const std::string& id);

  // --- Workers; see PoolBackend for the errors.
  absl::StatusOr<AttachGrant> Attach(const AttachClaim& claim);
  // `answer` is called exactly once (from any thread) when OK is returned, never otherwise.
  absl::StatusOr<PollTicket> Poll(const std::string& session, PollCallback answer);
  // The caller is gone: its answer is called with nothing, unless it was already.
  void CancelPoll(PollTicket ticket);
  absl::StatusOr<WorkerOrder> Heartbeat(const std::string& session, const std::optional<AttemptRef>& running,
                                        const std::optional<JobProgress>& progress, uint64_t memory_bytes);
  // May this worker store artifacts of the attempt? ABORTED when the attempt is not its any more.
  absl::Status CheckAttempt(const std::string& session, const AttemptRef& attempt);
  // Replaces one of the same name.
  absl::Status AddArtifact(const std::string& session, const AttemptRef& attempt, const std::string& name,
                           BlobPin pin);
  // True: the attempt ended with this answer, now or before. ABORTED for an attempt that is not current.
  // FAILED_PRECONDITION when the typed result was not stored first.
  absl::StatusOr<bool> Complete(const std::string& session, const AttemptRef& attempt,
                                const Completion& completion);

  // --- Pool and life.
  std::vector<WorkerInfo> Workers();
  absl::Status DrainPool(const std::string& worker);
  absl::Status ResumePool(const std::string& worker);
  bool draining();
  JobCounts Counts();
  // Timers, process exits, dispatch. Call often (every 50 ms) and whenever the pool asks.
  void Tick();
  // No new jobs, no dispatch; watchers are told; idle workers stop. Running jobs go on.
  void BeginShutdown();
  // No attempt is held by a worker.
  bool NothingRuns();

 private:
  struct LiveJob {
    Job job;
    std::shared_ptr<const JobProgress> progress;
    uint32_t progress_count = 0;
    SteadyTime queued_since;
    SteadyTime wall_deadline;                  // of the attempt
    std::map<std::string, BlobPin> artifacts;  // of the attempt
  };
  struct Waiter {
    std::string worker;
    SteadyTime deadline;
    PollCallback answer;
  };
  // Holds the lock; its end runs what was deferred, unlocked.
  class SM89_THREAD_ATTRIBUTE(scoped_lockable) Guard {
   public:
    explicit Guard(JobManager& manager) SM89_ACQUIRE(manager.mutex_);
    ~Guard() SM89_RELEASE();

   private:
    JobManager& manager_;
  };

  // Stores and installs the next state. The LiveJob is gone afterwards when the state is terminal.
  absl::Status Commit(LiveJob& live, const Job& next) SM89_REQUIRES(mutex_);
  void Install(LiveJob& live, const Job& next) SM89_REQUIRES(mutex_);
  LiveJob& AddLive(Job job) SM89_REQUIRES(mutex_);
  LiveJob* FindLive(const std::string& id) SM89_REQUIRES(mutex_);
  LiveJob* FindAttempt(const AttemptRef& attempt) SM89_REQUIRES(mutex_);
  JobView ViewOf(const LiveJob& live) SM89_REQUIRES(mutex_);
  std::string WhyPending(const Job& job) SM89_REQUIRES(mutex_);
  absl::StatusOr<std::optional<JobView>> RepeatOf(const SubmitRequest& request,
                                                  const std::string& body_sha256);
  absl::StatusOr<JobView> Admit(Job job, const SubmitKey& key) SM89_REQUIRES(mutex_);
  std::string CacheKeyOf(const Job& job) const;
  absl::StatusOr<Job> FindEnded(const std::string& id);

  Assignment AssignmentOf(const LiveJob& live, InputPaths paths) const SM89_REQUIRES(mutex_);
  void StartWallClock(LiveJob& live, int64_t started_unix_nanos) SM89_REQUIRES(mutex_);
  bool ReachedMemoryLimit(LiveJob& live, uint64_t memory_bytes) SM89_REQUIRES(mutex_);
  void TakeProgress(LiveJob& live, const JobProgress& progress) SM89_REQUIRES(mutex_);
  absl::StatusOr<bool> CompleteLive(LiveJob& live, const AttemptRef& attempt, const Completion& completion)
      SM89_REQUIRES(mutex_);
  absl::StatusOr<bool> CompletedBefore(const AttemptRef& attempt) SM89_REQUIRES(mutex_);
  absl::Status CommitResult(LiveJob& live, const Completion& completion) SM89_REQUIRES(mutex_);

  absl::Status RecoverActive(LiveJob& live) SM89_REQUIRES(mutex_);
  void TakePoolEvents() SM89_REQUIRES(mutex_);
  absl::Status Handle(const PoolEvent& event) SM89_REQUIRES(mutex_);
  void CheckWallLimits() SM89_REQUIRES(mutex_);
  void AnswerOldPolls() SM89_REQUIRES(mutex_);
  void Dispatch() SM89_REQUIRES(mutex_);
  // False: stop dispatching for now.
  bool DispatchTo(std::map<PollTicket, Waiter>::iterator waiter) SM89_REQUIRES(mutex_);
  void Answer(std::map<PollTicket, Waiter>::iterator waiter, PollAnswer answer) SM89_REQUIRES(mutex_);

  const JobManagerOptions options_;
  const JobManagerDeps deps_;
  Mutex mutex_;
  std::map<std::string, LiveJob> live_ SM89_GUARDED_BY(mutex_);  // every job that has not ended
  JobQueue queue_ SM89_GUARDED_BY(mutex_);
  std::map<PollTicket, Waiter> waiters_ SM89_GUARDED_BY(mutex_);
  std::deque<PoolEvent> events_ SM89_GUARDED_BY(mutex_);  // not stored yet
  std::vector<std::function<void()>> deferred_ SM89_GUARDED_BY(mutex_);
  WatchHub hub_ SM89_GUARDED_BY(mutex_);
  std::array<uint64_t, kJobStates> counts_ SM89_GUARDED_BY(mutex_){};
  uint64_t next_fence_ SM89_GUARDED_BY(mutex_) = 1;
  PollTicket next_poll_ SM89_GUARDED_BY(mutex_) = 1;
  bool shutting_down_ SM89_GUARDED_BY(mutex_) = false;
};

}  // namespace sm89
