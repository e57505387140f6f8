#include "server/service/watch_stream.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/os/mutex.h"
#include "server/service/job_messages.h"
#include "server/service/status_conversion.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

constexpr uint32_t kMinIntervalMs = 50;
constexpr uint32_t kDefaultIntervalMs = 500;
constexpr uint32_t kMaxIntervalMs = 3'600'000;

class WatchReactor;

// What the reactor and the watcher's wake-up share. Outlives both.
//
// gRPC's calls are made without the lock, by whoever took the turn under it: `busy` while a write is in
// flight (or about to be), `finished` once Finish was decided. So at most one of them happens at a time, and
// the reactor lives until the one that is decided has been made.
class WatchCall : public std::enable_shared_from_this<WatchCall> {
 public:
  explicit WatchCall(WatchReactor* reactor) : reactor_(reactor) {}

  void Open(JobManager& jobs, const v1::WatchJobRequest& request);
  void Pump();
  void Written(bool ok);
  void Cancelled();
  void Done();
  void Refuse(const absl::Status& status);

 private:
  struct Turn {
    std::optional<WatchUpdate> update;
    size_t profile_rows = 0;
    std::optional<grpc::Status> end;
  };
  Turn Next() SM89_REQUIRES(mutex_);
  absl::Status Subscribe(JobManager& jobs, const v1::WatchJobRequest& request);
  void Make(Turn turn);

  Mutex mutex_;
  WatchReactor* reactor_;
  std::shared_ptr<Watcher> watcher_ SM89_GUARDED_BY(mutex_);
  size_t profile_rows_ SM89_GUARDED_BY(mutex_) = 0;
  bool busy_ SM89_GUARDED_BY(mutex_) = false;
  bool cancelled_ SM89_GUARDED_BY(mutex_) = false;
  bool finished_ SM89_GUARDED_BY(mutex_) = false;
};

class WatchReactor final : public grpc::ServerWriteReactor<v1::JobUpdate> {
 public:
  WatchReactor() : call_(std::make_shared<WatchCall>(this)) {}

  const std::shared_ptr<WatchCall>& call() const { return call_; }
  void Send(const WatchUpdate& update, size_t profile_rows) {
    message_ = MessageOf(update, profile_rows);
    StartWrite(&message_);
  }

 private:
  void OnWriteDone(bool ok) override { call_->Written(ok); }
  void OnCancel() override { call_->Cancelled(); }
  void OnDone() override {
    call_->Done();
    delete this;
  }

  const std::shared_ptr<WatchCall> call_;
  v1::JobUpdate message_;
};

WatchCall::Turn WatchCall::Next() {
  Turn turn;
  if (busy_ || finished_) return turn;
  if (cancelled_) {
    turn.end = grpc::Status(grpc::StatusCode::CANCELLED, "the watcher went away");
  } else if (watcher_ != nullptr) {
    turn.update = watcher_->Next();
    if (!turn.update.has_value() && watcher_->finished()) turn.end = grpc::Status::OK;
  }
  turn.profile_rows = profile_rows_;
  busy_ = turn.update.has_value();
  finished_ = turn.end.has_value();
  return turn;
}

void WatchCall::Make(Turn turn) {
  if (turn.update.has_value()) {
    reactor_->Send(*turn.update, turn.profile_rows);
  } else if (turn.end.has_value()) {
    reactor_->Finish(*turn.end);
  }
}

void WatchCall::Pump() {
  Turn turn;
  {
    MutexLock lock(mutex_);
    turn = Next();
  }
  Make(std::move(turn));
}

void WatchCall::Written(bool ok) {
  {
    MutexLock lock(mutex_);
    busy_ = false;
    if (!ok) cancelled_ = true;
  }
  Pump();
}

void WatchCall::Cancelled() {
  {
    MutexLock lock(mutex_);
    cancelled_ = true;
  }
  Pump();
}

void WatchCall::Done() {
  MutexLock lock(mutex_);
  watcher_ = nullptr;
}

void WatchCall::Refuse(const absl::Status& status) {
  Turn turn;
  {
    MutexLock lock(mutex_);
    if (finished_) return;
    finished_ = true;
    turn.end = ToGrpc(status, "JOB");
  }
  Make(std::move(turn));
}

absl::Status WatchCall::Subscribe(JobManager& jobs, const v1::WatchJobRequest& request) {
  ASSIGN_OR_RETURN(const std::string id, IdFromName("jobs", request.name(), "name"));
  if (request.profile_rows() > kLiveProfileRowsMax) {
    return InputError(absl::StatusCode::kInvalidArgument,
                      Fault{.field = "profile_rows",
                            .value = absl::StrCat(request.profile_rows()),
                            .expected = absl::StrCat("0..", kLiveProfileRowsMax),
                            .message = "too many rows of the profile"});
  }
  const uint32_t asked = request.min_interval_ms() == 0 ? kDefaultIntervalMs : request.min_interval_ms();
  WatchOptions options;
  options.from_sequence = request.from_sequence();
  options.min_interval = std::chrono::milliseconds(std::clamp(asked, kMinIntervalMs, kMaxIntervalMs));
  {
    MutexLock lock(mutex_);
    profile_rows_ = request.profile_rows();
  }
  ASSIGN_OR_RETURN(std::shared_ptr<Watcher> watcher, jobs.Watch(id, options, [call = weak_from_this()] {
    if (const std::shared_ptr<WatchCall> alive = call.lock()) alive->Pump();
  }));
  MutexLock lock(mutex_);
  if (!finished_) watcher_ = std::move(watcher);
  return absl::OkStatus();
}

void WatchCall::Open(JobManager& jobs, const v1::WatchJobRequest& request) {
  const absl::Status subscribed = Subscribe(jobs, request);
  if (!subscribed.ok()) {
    Refuse(subscribed);
    return;
  }
  Pump();
}

}  // namespace

grpc::ServerWriteReactor<v1::JobUpdate>* StartWatch(JobManager& jobs, Executor& executor,
                                                    const v1::WatchJobRequest& request) {
  auto* reactor = new WatchReactor();
  // The request's message may be gone by the time the task runs.
  const bool accepted =
      executor.Post([call = reactor->call(), &jobs, request] { call->Open(jobs, request); });
  if (!accepted) {
    reactor->call()->Refuse(absl::ResourceExhaustedError("the server is overloaded: try again later"));
  }
  return reactor;
}

}  // namespace sm89
