#include "server/service/poll_call.h"

#include <memory>
#include <utility>

#include "server/os/mutex.h"
#include "server/service/job_messages.h"
#include "server/service/status_conversion.h"

namespace sm89 {
namespace {

class PollReactor final : public grpc::ServerUnaryReactor {
 public:
  PollReactor(JobManager& jobs, Executor& executor, v1::PollResponse* response)
      : shared_(std::make_shared<Shared>(jobs)), executor_(executor), response_(response) {}

  void Start(const std::string& session) {
    const bool accepted = executor_.Post([this, session] { Wait(session); });
    if (!accepted) Finish(ToGrpc(absl::ResourceExhaustedError("the server is overloaded"), "ATTEMPT"));
  }

 private:
  // What the cancel needs; it may run after the reactor is gone.
  struct Shared {
    explicit Shared(JobManager& j) : jobs(j) {}
    JobManager& jobs;
    Mutex mutex;
    PollTicket ticket SM89_GUARDED_BY(mutex) = 0;
    bool cancelled SM89_GUARDED_BY(mutex) = false;
  };

  void Wait(const std::string& session) {
    // `this` lives until Finish, and after an OK only the answer finishes, exactly once.
    const std::shared_ptr<Shared> shared = shared_;
    const absl::StatusOr<PollTicket> ticket =
        shared->jobs.Poll(session, [this](PollAnswer answer) { Respond(std::move(answer)); });
    if (!ticket.ok()) {
      Finish(ToGrpc(ticket.status(), "ATTEMPT"));
      return;
    }
    bool cancelled = false;
    {
      MutexLock lock(shared->mutex);
      shared->ticket = *ticket;
      cancelled = shared->cancelled;
    }
    if (cancelled && *ticket != 0) shared->jobs.CancelPoll(*ticket);
  }

  void Respond(PollAnswer answer) {
    response_->set_stop(answer.stop);
    if (answer.assignment.has_value()) *response_->mutable_assignment() = MessageOf(*answer.assignment);
    Finish(grpc::Status::OK);
  }

  void OnCancel() override {
    PollTicket ticket = 0;
    {
      MutexLock lock(shared_->mutex);
      shared_->cancelled = true;
      ticket = shared_->ticket;
    }
    if (ticket == 0) return;
    // Not here: the manager's lock may be held over an fsync. When the executor is full, the manager's own
    // time limit ends the wait.
    [[maybe_unused]] const bool posted =
        executor_.Post([shared = shared_, ticket] { shared->jobs.CancelPoll(ticket); });
  }

  void OnDone() override { delete this; }

  const std::shared_ptr<Shared> shared_;
  Executor& executor_;
  v1::PollResponse* const response_;
};

}  // namespace

grpc::ServerUnaryReactor* StartPoll(JobManager& jobs, Executor& executor, const std::string& session,
                                    v1::PollResponse* response) {
  auto* reactor = new PollReactor(jobs, executor, response);
  reactor->Start(session);
  return reactor;
}

}  // namespace sm89
