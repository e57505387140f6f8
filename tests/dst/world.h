// Jobs and pool over a simulated machine: workers, faults, daemon restarts and checkers, driven by one seed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/jobs/job_manager.h"
#include "server/jobs/session_table.h"
#include "server/pool/local_pool.h"
#include "server/store/blob_store.h"
#include "tests/dst/crashing_database.h"
#include "tests/dst/fake_machine.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace sm89::testing {

class FixedInputs final : public JobInputSource {
 public:
  absl::StatusOr<ResolvedInputs> Resolve(const JobSpec& spec) override {
    // The display name stands for the question: equal ones share the result cache.
    return ResolvedInputs{{"trace", "blob", "t", spec.display_name, ""}, 10};
  }
  absl::Status Recheck(Transaction&, const JobSpec&, const JobInputs&) override { return absl::OkStatus(); }
  absl::StatusOr<InputPaths> Paths(const JobInputs&) override { return InputPaths{"/trace"}; }
};

class NoObserver final : public JobObserver, public PoolObserver {
 public:
  void OnSubmitted(const Job&) override {}
  void OnChanged(const Job&, const Job&, double) override {}
  void OnProgress(const Job&, const JobProgress&) override {}
  void OnReattached(const Job&) override {}
  void OnWorkerStarted(bool) override {}
  void OnWorkerEnded(WorkerEnd) override {}
  void OnWorkerReattached() override {}
  void OnLeaseExpired() override {}
};

class SequentialIds final : public IdSource {
 public:
  std::string NewId() override {
    std::string id(16, 'a');
    uint64_t n = next_++;
    for (size_t i = id.size(); n != 0; n /= 26) id[--i] = static_cast<char>('a' + n % 26);
    return id;
  }

 private:
  uint64_t next_ = 1;
};

// One worker process as it behaves towards the daemon.
struct SimWorker {
  std::string ticket;
  std::string session;
  uint64_t daemon_seen = 0;  // which life of the daemon it attached to last
  std::optional<AttemptRef> running;
  uint64_t work_left = 0;
  bool hung = false;
  // Filled by the daemon; empty pointer = no poll is open.
  std::shared_ptr<std::optional<PollAnswer>> poll;
};

class World {
 public:
  static constexpr uint32_t kWorkers = 3;
  static constexpr char kVersion[] = "v";
  // One second at 50 ms a tick, and some for the worker's end to be noticed.
  static constexpr uint64_t kCancelTicksMax = 25;

  explicit World(uint64_t seed) : random_(seed) {
    real_db_ = *Database::Open({dir_.File("db")});
    db_ = std::make_unique<CrashingDatabase>(*real_db_);
    blobs_ = *BlobStore::Open(PosixFileStore(), ids_, *real_db_, dir_.File("blobs"));
    StartDaemon();
  }
  ~World() { StopDaemon(); }

  // One turn of everything, with faults.
  void Step() {
    if (manager_ == nullptr) {
      if (Chance(5)) StartDaemon();
      Advance();
      StepWorkers(true);
      return;
    }
    if (Chance(8)) SubmitOne();
    if (Chance(20)) CancelOne();
    if (Chance(60)) db_->CrashAt(1 + Below(12), Chance(2));
    if (Chance(40)) HurtWorker();
    if (Chance(100)) (void)manager_->DrainPool("");
    if (Chance(10)) (void)manager_->ResumePool("");
    if (Chance(4)) DeliverLate();
    StepWorkers(true);
    if (manager_ != nullptr) Tick();
    Advance();
    CrashIfDead();
  }

  // No more faults: everything must come to rest, and to the right rest.
  void SettleAndCheck() {
    db_->Revive();
    if (manager_ == nullptr) StartDaemon();
    (void)manager_->ResumePool("");
    // Workers that hang go on hanging: the pool has to be rid of them.
    for (int round = 0; round < 40'000 && !AtRest(); ++round) {
      RetrySubmits();
      StepWorkers(false);
      Tick();
      clock_.Advance(std::chrono::milliseconds(50));
    }
    EXPECT_TRUE(AtRest()) << Describe();
    EXPECT_EQ(machine_.children().size(), kWorkers);
    CheckJobs();
  }

 private:
  uint64_t Below(uint64_t n) { return random_() % n; }
  bool Chance(uint64_t one_in) { return Below(one_in) == 0; }

  void StartDaemon() {
    db_->Revive();
    ++daemon_life_;
    for (auto& [id, since] : cancelled_) since = ticks_;
    store_.emplace(*JobStore::Open(*db_, *blobs_));
    sessions_ = std::make_unique<SessionTable>(*db_);
    launcher_ = std::make_unique<FakeMachine::Launcher>(&machine_);
    LocalPoolOptions pool;
    pool.workers = kWorkers;
    pool.stderr_dir = dir_.File("workers");
    pool.version = kVersion;
    pool_ = std::make_unique<LocalPool>(pool, LocalPoolDeps{clock_, *launcher_, machine_, PosixFileStore(),
                                                            ids_, *sessions_, observer_, [] {}});
    ASSERT_TRUE(pool_->Start().ok());
    JobManagerOptions options;
    options.retry.attempts_max = 3;
    options.model_version = "m";
    manager_ = std::make_unique<JobManager>(
        options, JobManagerDeps{clock_, ids_, *store_, *pool_, inputs_, observer_});
    const absl::Status recovered = manager_->Recover();
    ASSERT_TRUE(recovered.ok()) << recovered;
  }

  void Tick() {
    manager_->Tick();
    ++ticks_;
    CrashIfDead();
    if (manager_ == nullptr) return;
    for (auto it = cancelled_.begin(); it != cancelled_.end();) {
      const absl::StatusOr<JobView> view = manager_->Get(it->first);
      const bool ended = view.ok() && IsTerminal(view->job.state);
      EXPECT_TRUE(ended || ticks_ - it->second < kCancelTicksMax)
          << it->first << " is cancelling for too long";
      it = ended ? cancelled_.erase(it) : std::next(it);
    }
  }

  void StopDaemon() {
    // Polls of a dead daemon are never answered; their slots must not be written by its destructor either.
    for (auto& [pid, worker] : workers_) worker.poll = nullptr;
    manager_ = nullptr;
    pool_ = nullptr;
    machine_.ForgetDaemon();
    launcher_ = nullptr;
  }

  void CrashIfDead() {
    if (db_->crashed()) StopDaemon();
  }

  void Advance() {
    // Mostly a tick; now and then long enough for leases and grace times to run out.
    const uint64_t ms = Chance(50) ? 1000 * (1 + Below(45)) : 50;
    clock_.Advance(std::chrono::milliseconds(ms));
    if (Chance(200)) clock_.StepWall(std::chrono::hours(Chance(2) ? 5 : -5));
  }

  void SubmitOne() {
    if (requests_.size() >= 25) return;
    const uint64_t n = requests_.size();
    SubmitRequest request;
    request.request_id = absl::StrFormat("00000000-0000-0000-0000-%012d", n);
    request.spec.trace = "t";
    request.spec.display_name = absl::StrCat(Below(30));
    request.spec.priority = static_cast<int32_t>(Below(3));
    requests_.push_back(request);
    Submit(n);
  }

  void Submit(uint64_t n) {
    const absl::StatusOr<JobView> view = manager_->Submit(requests_[n]);
    if (!view.ok()) return;
    const auto [it, first] = accepted_.emplace(n, view->job.id);
    EXPECT_EQ(it->second, view->job.id) << "a repeated request made another job";
  }

  void RetrySubmits() {
    for (uint64_t n = 0; n < requests_.size(); ++n) {
      if (!accepted_.contains(n)) Submit(n);
    }
  }

  void CancelOne() {
    if (accepted_.empty()) return;
    auto it = accepted_.begin();
    std::advance(it, static_cast<std::ptrdiff_t>(Below(accepted_.size())));
    const absl::StatusOr<JobView> view = manager_->Cancel(it->second, "");
    if (view.ok()) cancelled_.emplace(it->second, ticks_);
  }

  void HurtWorker() {
    if (workers_.empty()) return;
    auto it = workers_.begin();
    std::advance(it, static_cast<std::ptrdiff_t>(Below(workers_.size())));
    const int64_t pid = it->first;
    if (Chance(3)) {
      it->second.hung = !it->second.hung;
      machine_.children()[pid].ignores_term = it->second.hung;
    } else {
      machine_.End(pid, Chance(4) ? ProcessExit{0, SIGABRT, 0} : ProcessExit{0, SIGKILL, 0});
    }
  }

  void StepWorkers(bool faults) {
    std::vector<int64_t> pids;
    for (const auto& [pid, child] : machine_.children()) {
      pids.push_back(pid);
      if (!workers_.contains(pid)) workers_[pid].ticket = child.ticket;
    }
    std::erase_if(workers_, [&](const auto& entry) { return !machine_.children().contains(entry.first); });
    for (const int64_t pid : pids) {
      if (manager_ == nullptr) return;
      if (!workers_[pid].hung) StepWorker(pid, workers_[pid], faults);
      CrashIfDead();
    }
  }

  void StepWorker(int64_t pid, SimWorker& worker, bool faults) {
    if (worker.daemon_seen != daemon_life_ && !AttachWorker(pid, worker)) return;
    if (worker.running.has_value()) {
      Work(worker, faults);
      return;
    }
    if (worker.poll == nullptr) {
      worker.poll = std::make_shared<std::optional<PollAnswer>>();
      const auto answer = worker.poll;
      const auto ticket = manager_->Poll(worker.session, [answer](PollAnswer a) { *answer = std::move(a); });
      if (!ticket.ok()) worker.poll = nullptr;
      return;
    }
    if (!worker.poll->has_value()) {
      (void)manager_->Heartbeat(worker.session, std::nullopt, std::nullopt, 1);
      return;
    }
    const PollAnswer answer = **worker.poll;
    worker.poll = nullptr;
    if (answer.stop) machine_.End(pid, ProcessExit{});
    if (!answer.assignment.has_value() || (faults && Chance(20))) return;  // or the answer is lost on its way
    CheckAssignment(pid, answer.assignment->attempt);
    worker.running = answer.assignment->attempt;
    worker.work_left = Below(20);
  }

  bool AttachWorker(int64_t pid, SimWorker& worker) {
    const absl::StatusOr<AttachGrant> grant =
        manager_->Attach({worker.ticket, worker.session, kVersion, "host", pid, worker.running});
    worker.poll = nullptr;
    if (absl::IsUnauthenticated(grant.status())) {
      machine_.End(pid, ProcessExit{76, 0, 0});
      return false;
    }
    if (!grant.ok()) return false;
    worker.session = grant->session;
    worker.daemon_seen = daemon_life_;
    if (!grant->keep_running) worker.running.reset();
    return true;
  }

  void Work(SimWorker& worker, bool faults) {
    const absl::StatusOr<WorkerOrder> order =
        manager_->Heartbeat(worker.session, worker.running, JobProgress{}, 1);
    if (!order.ok()) return;
    if (*order == WorkerOrder::kAbandon) {
      worker.running.reset();
      return;
    }
    Completion completion;
    if (*order == WorkerOrder::kCancel) {
      completion.cancelled = true;
    } else if (worker.work_left > 0) {
      --worker.work_left;
      return;
    } else if (faults && Chance(10)) {
      completion.error = {"INVALID_ARGUMENT", "INPUT_INVALID", "bad", {}};
    } else {
      completion.success = true;
      BlobPin pin = *blobs_->AddBytes(absl::StrCat("result of ", worker.running->fence));
      (void)manager_->AddArtifact(worker.session, *worker.running, "result.bin", std::move(pin));
    }
    if (faults && Chance(8)) {
      // The message is under way for long, and the worker does not wait for it.
      late_.push_back({worker.session, *worker.running, completion});
      worker.running.reset();
      return;
    }
    const absl::StatusOr<bool> accepted = Complete(worker.session, *worker.running, completion);
    const bool answer_lost = faults && Chance(10);  // then it completes again
    if (absl::IsAborted(accepted.status()) || (accepted.ok() && !answer_lost)) worker.running.reset();
  }

  absl::StatusOr<bool> Complete(const std::string& session, const AttemptRef& attempt,
                                const Completion& completion) {
    const absl::StatusOr<bool> accepted = manager_->Complete(session, attempt, completion);
    if (!accepted.ok()) return accepted;
    const absl::StatusOr<JobView> view = manager_->Get(attempt.job);
    EXPECT_TRUE(!view.ok() || view->job.place.fence == attempt.fence) << "an old attempt ended a newer one";
    if (completion.success) {
      completed_[attempt.job].insert(attempt.fence);
      ended_.insert(attempt.job);
    }
    return accepted;
  }

  void DeliverLate() {
    if (late_.empty()) return;
    const size_t i = Below(late_.size());
    const LateMessage message = late_[i];
    late_.erase(late_.begin() + static_cast<std::ptrdiff_t>(i));
    (void)Complete(message.session, message.attempt, message.completion);
    CrashIfDead();
  }

  void CheckAssignment(int64_t pid, const AttemptRef& attempt) {
    EXPECT_FALSE(ended_.contains(attempt.job)) << "a job that had ended is run again: " << attempt.job;
    for (const auto& [other, worker] : workers_) {
      const bool twice = other != pid && worker.running == attempt;
      EXPECT_FALSE(twice) << "two workers hold one attempt";
    }
  }

  bool AtRest() {
    if (accepted_.size() != requests_.size()) return false;
    for (const auto& [n, id] : accepted_) {
      const absl::StatusOr<JobView> view = manager_->Get(id);
      if (!view.ok() || !IsTerminal(view->job.state)) return false;
    }
    const std::vector<WorkerInfo> workers = manager_->Workers();
    // A process that ended a moment ago is noticed by the next tick.
    return machine_.children().size() == kWorkers &&
           std::all_of(workers.begin(), workers.end(),
                       [](const WorkerInfo& w) { return w.state == WorkerState::kIdle; });
  }

  void CheckJobs() {
    EXPECT_EQ((*store_->List({}, uint64_t{1} << 60, 1000)).total, requests_.size());
    for (const auto& [n, id] : accepted_) {
      const JobView view = *manager_->Get(id);
      EXPECT_LE(completed_[id].size(), 1U) << id << " succeeded in more than one attempt";
      if (view.job.state == JobState::kSucceeded && !view.job.outcome.from_cache) {
        EXPECT_TRUE(completed_[id].contains(view.job.place.fence) || completed_[id].empty());
      }
      if (view.job.state == JobState::kSucceeded) {
        const absl::StatusOr<JobResult> result = manager_->Result(id);
        ASSERT_TRUE(result.ok()) << result.status();
        EXPECT_TRUE(blobs_->Verify(result->artifacts.at(0).sha256).ok());
      }
      static const std::set<std::string> kReasons = {"", "WORKER_CRASHED", "INPUT_INVALID",
                                                     "WORKER_LOST_REPEATEDLY"};
      EXPECT_TRUE(kReasons.contains(view.job.outcome.error.reason)) << id << " " << view.job.reason;
      EXPECT_LE(view.job.place.lost_attempts, 3U);
      for (size_t i = 1; i < view.history.size(); ++i) {
        EXPECT_TRUE(TransitionAllowed(view.history[i - 1].state, view.history[i].state)) << id;
        EXPECT_LT(view.history[i - 1].sequence, view.history[i].sequence) << id;
        EXPECT_FALSE(IsTerminal(view.history[i - 1].state)) << id;
      }
    }
  }

  std::string Describe() {
    std::string text;
    for (const auto& [n, id] : accepted_) {
      const absl::StatusOr<JobView> view = manager_->Get(id);
      if (view.ok() && !IsTerminal(view->job.state)) {
        absl::StrAppend(&text, id, " ", std::string(Name(view->job.state)), " ", view->reason, "\n");
      }
    }
    for (const WorkerInfo& w : manager_->Workers()) {
      absl::StrAppend(&text, w.id, " ", std::string(Name(w.state)), "\n");
    }
    return text;
  }

  std::mt19937_64 random_;
  TempDir dir_;
  FakeClock clock_;
  SequentialIds ids_;
  FakeMachine machine_;
  FixedInputs inputs_;
  NoObserver observer_;
  std::unique_ptr<Database> real_db_;
  std::unique_ptr<CrashingDatabase> db_;
  std::unique_ptr<BlobStore> blobs_;
  // One life of the daemon.
  uint64_t daemon_life_ = 0;
  std::optional<JobStore> store_;
  std::unique_ptr<SessionTable> sessions_;
  std::unique_ptr<FakeMachine::Launcher> launcher_;
  std::unique_ptr<LocalPool> pool_;
  std::unique_ptr<JobManager> manager_;

  std::map<int64_t, SimWorker> workers_;
  std::vector<SubmitRequest> requests_;
  std::map<uint64_t, std::string> accepted_;             // request -> job
  std::map<std::string, std::set<uint64_t>> completed_;  // job -> fences whose success was accepted
  std::set<std::string> ended_;
  std::map<std::string, uint64_t> cancelled_;  // job -> tick of the cancel
  uint64_t ticks_ = 0;
  struct LateMessage {
    std::string session;
    AttemptRef attempt;
    Completion completion;
  };
  std::vector<LateMessage> late_;
};

}  // namespace sm89::testing
