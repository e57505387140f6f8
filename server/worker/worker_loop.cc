#include "server/worker/worker_loop.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/log/log.h"
#include "server/worker/memory_use.h"
#include "server/worker/result_messages.h"
#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"
#include "sim/base/version.h"

namespace sm89 {
namespace {

// A daemon whose disk is full refuses results; the work is kept until there is room.
constexpr Duration kDeliverRetry = std::chrono::seconds(1);
constexpr int kFaultsMax = 100;

bool IsRefusal(const absl::Status& s) { return absl::IsUnauthenticated(s) || absl::IsPermissionDenied(s); }

v1::JobFailure FailureOf(const absl::Status& status) {
  v1::JobFailure failure;
  failure.set_cancelled(absl::IsCancelled(status));
  failure.set_code(absl::StatusCodeToString(status.code()));
  failure.set_message(ValidText(std::string(status.message())));
  failure.mutable_detail()->set_domain("sm89");
  failure.mutable_detail()->set_reason(absl::IsInvalidArgument(status) ? "INPUT_INVALID"
                                                                       : "SIMULATION_FAILED");
  for (const Fault& fault : FaultsOf(status)) {
    if (failure.detail().faults_size() == kFaultsMax) break;
    v1::Fault* f = failure.mutable_detail()->add_faults();
    f->set_file(ValidText(fault.file));
    f->set_line(fault.line);
    f->set_field(ValidText(fault.field));
    f->set_value(ValidText(fault.value));
    f->set_expected(ValidText(fault.expected));
    f->set_message(ValidText(fault.message));
    for (const auto& [key, value] : fault.facts) (*f->mutable_facts())[ValidText(key)] = ValidText(value);
  }
  return failure;
}

}  // namespace

std::string WorkerVersion() { return absl::StrCat(Av(kProductVersion), "/", Av(kModelVersion)); }

WorkerLoop::WorkerLoop(WorkerLoopOptions options, const Clock& clock, DaemonLink& link, AttemptRunner& runner)
    : options_(std::move(options)), clock_(clock), link_(link), runner_(runner) {}

WorkerLoop::~WorkerLoop() { SM89_ASSERT(!lease_thread_.joinable(), "Run joins the lease thread"); }

WorkerExitCode WorkerLoop::Run() {
  if (const absl::Status attached = AttachFirst(); !attached.ok()) {
    Log(LogLevel::kError, "worker_not_attached", {{"error", attached.message()}});
    return absl::IsUnavailable(attached) || absl::IsDeadlineExceeded(attached) ? WorkerExitCode::kDaemonGone
                                                                               : WorkerExitCode::kRefused;
  }
  lease_thread_ = std::thread([this] { KeepLease(); });
  while (!ending_ && WaitUntilUp()) {
    v1::PollRequest request;
    {
      MutexLock lock(mutex_);
      request.set_session(session_);
    }
    const absl::StatusOr<v1::PollResponse> response = link_.Poll(request);
    if (!response.ok()) {
      NoteFailure(response.status());
    } else if (response->stop()) {
      ending_ = true;
    } else if (response->has_assignment()) {
      RunAttempt(response->assignment());
    }
  }
  LinkState state = LinkState::kUp;
  {
    MutexLock lock(mutex_);
    lease_over_ = true;
    state = link_state_;
    changed_.NotifyAll();
  }
  lease_thread_.join();
  if (state == LinkState::kRefused) return WorkerExitCode::kRefused;
  return state == LinkState::kGone ? WorkerExitCode::kDaemonGone : WorkerExitCode::kDone;
}

void WorkerLoop::Stop() {
  ending_ = true;
  stop_attempt_ = true;
  link_.StopPolling();
  MutexLock lock(mutex_);
  changed_.NotifyAll();
}

absl::Status WorkerLoop::AttachFirst() {
  v1::AttachRequest request;
  request.set_ticket(options_.ticket);
  request.set_version(WorkerVersion());
  request.set_host(options_.host);
  request.set_pid(options_.pid);
  const SteadyTime start = clock_.SteadyNow();
  for (;;) {
    const absl::StatusOr<v1::AttachResponse> response = link_.Attach(request);
    if (response.ok()) {
      MutexLock lock(mutex_);
      session_ = response->session();
      heartbeat_ = std::chrono::milliseconds(response->heartbeat_ms());
      return absl::OkStatus();
    }
    const bool over = ending_ || clock_.SteadyNow() - start >= options_.give_up;
    if (over || !(absl::IsUnavailable(response.status()) || absl::IsDeadlineExceeded(response.status()))) {
      return response.status();
    }
    Pause(options_.retry);
  }
}

void WorkerLoop::KeepLease() {
  for (;;) {
    const Duration wait = Beat();
    MutexLock lock(mutex_);
    if (!lease_over_ && !beat_now_) changed_.WaitFor(mutex_, wait);
    beat_now_ = false;
    if (lease_over_) return;
  }
}

Duration WorkerLoop::Beat() {
  v1::HeartbeatRequest beat;
  v1::AttachRequest attach;
  LinkState state = LinkState::kUp;
  Duration wait{};
  {
    MutexLock lock(mutex_);
    state = link_state_;
    wait = heartbeat_;
    beat.set_session(session_);
    attach.set_session(session_);
    attach.set_finished_waiting(only_complete_missing_);
    if (running_.has_value()) {
      *beat.mutable_running() = *running_;
      *attach.mutable_running() = *running_;
    }
    if (state == LinkState::kUp && progress_.has_value())
      *beat.mutable_progress() = *std::exchange(progress_, {});
  }
  if (state == LinkState::kDown) {
    Reattach(attach);
    return options_.retry;
  }
  if (state != LinkState::kUp) return wait;
  beat.set_memory_bytes(MemoryInUseBytes());
  const absl::StatusOr<v1::HeartbeatResponse> response = link_.Heartbeat(beat);
  if (!response.ok()) {
    NoteFailure(response.status());
    return options_.retry;
  }
  // An answer about an attempt that ended meanwhile says nothing about the next one.
  MutexLock lock(mutex_);
  const bool same = running_.has_value() == beat.has_running() &&
                    (!running_.has_value() || running_->fence() == beat.running().fence());
  if (same) Obey(response->action());
  return wait;
}

void WorkerLoop::Reattach(const v1::AttachRequest& partial) {
  v1::AttachRequest request = partial;
  request.set_version(WorkerVersion());
  request.set_host(options_.host);
  request.set_pid(options_.pid);
  const absl::StatusOr<v1::AttachResponse> response = link_.Attach(request);
  if (!response.ok()) {
    NoteFailure(response.status());
    return;
  }
  MutexLock lock(mutex_);
  const bool same =
      running_.has_value() && request.has_running() && running_->fence() == request.running().fence();
  if (same && !response->keep_running()) {
    abandoned_ = true;
    stop_attempt_ = true;
  }
  Log(LogLevel::kInfo, "worker_back_with_daemon", {{"keep_running", response->keep_running()}});
  link_state_ = LinkState::kUp;
  changed_.NotifyAll();
}

void WorkerLoop::Obey(v1::HeartbeatResponse::Action action) {
  switch (action) {
    case v1::HeartbeatResponse::CANCEL:
      stop_attempt_ = true;
      return;
    case v1::HeartbeatResponse::ABANDON:
      abandoned_ = true;
      stop_attempt_ = true;
      return;
    case v1::HeartbeatResponse::STOP:
      ending_ = true;
      link_.StopPolling();
      return;
    default:
      return;
  }
}

void WorkerLoop::NoteFailure(const absl::Status& error) {
  MutexLock lock(mutex_);
  if (ending_ && absl::IsCancelled(error)) return;  // our own StopPolling
  if (IsRefusal(error) || (absl::IsFailedPrecondition(error) && link_state_ == LinkState::kDown)) {
    Log(LogLevel::kError, "worker_refused", {{"error", error.message()}});
    EndLink(LinkState::kRefused);
    return;
  }
  const SteadyTime now = clock_.SteadyNow();
  if (link_state_ == LinkState::kUp) {
    Log(LogLevel::kWarn, "daemon_away", {{"error", error.message()}});
    link_state_ = LinkState::kDown;
    down_since_ = now;
    beat_now_ = true;
    changed_.NotifyAll();
  } else if (link_state_ == LinkState::kDown && now - down_since_ >= options_.give_up) {
    Log(LogLevel::kError, "daemon_gone", {{"error", error.message()}});
    EndLink(LinkState::kGone);
  }
}

void WorkerLoop::EndLink(LinkState state) {
  link_state_ = state;
  abandoned_ = true;
  stop_attempt_ = true;
  ending_ = true;
  lease_over_ = true;
  changed_.NotifyAll();
}

bool WorkerLoop::WaitUntilUp() {
  MutexLock lock(mutex_);
  while (link_state_ == LinkState::kDown && !(ending_ && !running_.has_value())) changed_.Wait(mutex_);
  return link_state_ == LinkState::kUp;
}

void WorkerLoop::RunAttempt(const v1::Assignment& assignment) {
  v1::RunningAttempt attempt;
  attempt.set_job(assignment.job());
  attempt.set_attempt(assignment.attempt());
  attempt.set_fence(assignment.fence());
  {
    MutexLock lock(mutex_);
    running_ = attempt;
    only_complete_missing_ = false;
    abandoned_ = false;
    stop_attempt_ = ending_.load();
    beat_now_ = true;
    changed_.NotifyAll();
  }
  Log(LogLevel::kInfo, "attempt_started", {{"job_id", attempt.job()}, {"attempt", attempt.attempt()}});
  const absl::Status limited = LimitMemory(assignment.memory_bytes());
  if (!limited.ok()) Log(LogLevel::kWarn, "memory_not_limited", {{"error", limited.message()}});
  AttemptOutcome outcome = runner_.Run(assignment, stop_attempt_, [this](v1::Progress progress) {
    MutexLock lock(mutex_);
    progress_ = std::move(progress);
  });
  UnlimitMemory();
  if (!abandoned_) Deliver(attempt, outcome);
  Log(LogLevel::kInfo, "attempt_ended",
      {{"job_id", attempt.job()},
       {"attempt", attempt.attempt()},
       {"abandoned", abandoned_.load()},
       {"error", outcome.status.message()}});
  MutexLock lock(mutex_);
  running_.reset();
  progress_.reset();
}

void WorkerLoop::Deliver(const v1::RunningAttempt& attempt, const AttemptOutcome& outcome) {
  {
    MutexLock lock(mutex_);
    only_complete_missing_ = true;
  }
  while (!abandoned_ && WaitUntilUp()) {
    const absl::Status delivered = DeliverOnce(attempt, outcome);
    if (delivered.ok() || absl::IsAborted(delivered)) return;
    Log(LogLevel::kWarn, "result_not_delivered", {{"job_id", attempt.job()}, {"error", delivered.message()}});
    if (absl::IsUnavailable(delivered) || IsRefusal(delivered)) {
      NoteFailure(delivered);
    } else {
      Pause(kDeliverRetry);
    }
  }
}

absl::Status WorkerLoop::DeliverOnce(const v1::RunningAttempt& attempt, const AttemptOutcome& outcome) {
  std::string session;
  {
    MutexLock lock(mutex_);
    session = session_;
  }
  v1::CompleteRequest complete;
  complete.set_session(session);
  *complete.mutable_attempt() = attempt;
  if (outcome.final_progress.has_value()) *complete.mutable_final_progress() = *outcome.final_progress;
  if (!outcome.status.ok()) {
    *complete.mutable_failure() = FailureOf(outcome.status);
    return link_.Complete(complete).status();
  }
  for (const FinishedArtifact& artifact : outcome.artifacts) {
    v1::WriteArtifactRequest first;
    first.set_session(session);
    *first.mutable_attempt() = attempt;
    first.set_name(artifact.name);
    const absl::Status written = link_.WriteArtifact(first, artifact);
    if (absl::IsResourceExhausted(written) && artifact.file != nullptr) {
      // The daemon takes no file as large as that, however often it is asked: the job has failed.
      *complete.mutable_failure() = FailureOf(written);
      return link_.Complete(complete).status();
    }
    RETURN_IF_ERROR(written);
  }
  *complete.mutable_result() = outcome.summary;
  return link_.Complete(complete).status();
}

void WorkerLoop::Pause(Duration wait) {
  MutexLock lock(mutex_);
  if (link_state_ == LinkState::kUp || link_state_ == LinkState::kDown) changed_.WaitFor(mutex_, wait);
}

}  // namespace sm89
