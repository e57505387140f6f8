// The life of one worker: attach, poll, simulate, deliver, again. One thread simulates and delivers; another
// one keeps the lease, attaches again after the daemon was away, and hears cancels.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <thread>

#include "server/os/clock.h"
#include "server/os/mutex.h"
#include "server/pool/worker_exit.h"
#include "server/worker/attempt_runner.h"
#include "server/worker/daemon_link.h"

namespace sm89 {

struct WorkerLoopOptions {
  std::string ticket;
  std::string host;
  int64_t pid = 0;
  // Without a daemon for so long, a worker gives up. Longer than the daemon's grace time for workers.
  Duration give_up = std::chrono::seconds(120);
  Duration retry = std::chrono::milliseconds(200);
};

// "0.1.0/0.1.0-m1": daemon and worker must agree on both.
std::string WorkerVersion();

class WorkerLoop {
 public:
  WorkerLoop(WorkerLoopOptions options, const Clock& clock, DaemonLink& link, AttemptRunner& runner);
  ~WorkerLoop();

  WorkerExitCode Run();
  // From any thread (not a signal handler): stop the attempt, complete it as cancelled, end.
  void Stop();

 private:
  enum class LinkState : uint8_t { kUp, kDown, kRefused, kGone };

  absl::Status AttachFirst();
  void KeepLease();
  // One beat or one try to attach again; how long to wait after it.
  Duration Beat();
  void Reattach(const v1::AttachRequest& request);
  void Obey(v1::HeartbeatResponse::Action action) SM89_REQUIRES(mutex_);
  void NoteFailure(const absl::Status& error);
  void EndLink(LinkState state) SM89_REQUIRES(mutex_);
  // False when the link is over for good.
  bool WaitUntilUp();
  void RunAttempt(const v1::Assignment& assignment);
  void Deliver(const v1::RunningAttempt& attempt, const AttemptOutcome& outcome);
  absl::Status DeliverOnce(const v1::RunningAttempt& attempt, const AttemptOutcome& outcome);
  void Pause(Duration wait);

  const WorkerLoopOptions options_;
  const Clock& clock_;
  DaemonLink& link_;
  AttemptRunner& runner_;

  std::atomic<bool> stop_attempt_ = false;  // cancelled or abandoned
  std::atomic<bool> abandoned_ = false;     // not ours any more: do not complete
  std::atomic<bool> ending_ = false;        // no more work after this attempt

  Mutex mutex_;
  CondVar changed_;
  std::string session_ SM89_GUARDED_BY(mutex_);
  Duration heartbeat_ SM89_GUARDED_BY(mutex_) = std::chrono::milliseconds(500);
  LinkState link_state_ SM89_GUARDED_BY(mutex_) = LinkState::kUp;
  SteadyTime down_since_ SM89_GUARDED_BY(mutex_);
  std::optional<v1::RunningAttempt> running_ SM89_GUARDED_BY(mutex_);
  bool only_complete_missing_ SM89_GUARDED_BY(mutex_) = false;
  std::optional<v1::Progress> progress_ SM89_GUARDED_BY(mutex_);  // not reported yet
  bool beat_now_ SM89_GUARDED_BY(mutex_) = false;
  bool lease_over_ SM89_GUARDED_BY(mutex_) = false;
  std::thread lease_thread_;
};

}  // namespace sm89
