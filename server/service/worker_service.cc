#include "server/service/worker_service.h"

#include <utility>

#include "server/service/artifact_stream.h"
#include "server/service/job_messages.h"
#include "server/service/poll_call.h"
#include "server/service/unary_call.h"
#include "sim/base/assert.h"
#include "sim/base/status_macros.h"
#include "sm89/v1/worker.grpc.pb.h"

namespace sm89 {
namespace {

v1::HeartbeatResponse::Action ActionOf(WorkerOrder order) {
  switch (order) {
    case WorkerOrder::kContinue:
      return v1::HeartbeatResponse::CONTINUE;
    case WorkerOrder::kCancel:
      return v1::HeartbeatResponse::CANCEL;
    case WorkerOrder::kAbandon:
      return v1::HeartbeatResponse::ABANDON;
    case WorkerOrder::kStop:
      return v1::HeartbeatResponse::STOP;
  }
  SM89_ASSERT(false, "every order has its action");
}

class WorkerServiceImpl final : public v1::WorkerService::CallbackService {
 public:
  explicit WorkerServiceImpl(const WorkerServiceDeps& deps) : deps_(deps) {}

  grpc::ServerUnaryReactor* Attach(grpc::CallbackServerContext* context, const v1::AttachRequest* request,
                                   v1::AttachResponse* response) override {
    return RunUnary(context, deps_.executor, "ATTEMPT", [this, request, response]() -> absl::Status {
      AttachClaim claim{request->ticket(), request->session(), request->version(),
                        request->host(),   request->pid(),     std::nullopt};
      if (request->has_running()) claim.running = AttemptFromMessage(request->running());
      ASSIGN_OR_RETURN(const AttachGrant grant, deps_.jobs.Attach(claim));
      response->set_worker("workers/" + grant.worker);
      response->set_session(grant.session);
      response->set_heartbeat_ms(grant.heartbeat_ms);
      response->set_lease_ms(grant.lease_ms);
      response->set_keep_running(grant.keep_running);
      return absl::OkStatus();
    });
  }

  grpc::ServerUnaryReactor* Poll(grpc::CallbackServerContext* /*context*/, const v1::PollRequest* request,
                                 v1::PollResponse* response) override {
    return StartPoll(deps_.jobs, deps_.executor, request->session(), response);
  }

  grpc::ServerUnaryReactor* Heartbeat(grpc::CallbackServerContext* context,
                                      const v1::HeartbeatRequest* request,
                                      v1::HeartbeatResponse* response) override {
    return RunUnary(context, deps_.executor, "ATTEMPT", [this, request, response]() -> absl::Status {
      std::optional<AttemptRef> running;
      std::optional<JobProgress> progress;
      if (request->has_running()) running = AttemptFromMessage(request->running());
      if (request->has_progress()) progress = ProgressFromMessage(request->progress());
      ASSIGN_OR_RETURN(const WorkerOrder order,
                       deps_.jobs.Heartbeat(request->session(), running, progress, request->memory_bytes()));
      response->set_action(ActionOf(order));
      return absl::OkStatus();
    });
  }

  grpc::ServerWriteReactor<v1::ReadBlobChunk>* ReadBlob(grpc::CallbackServerContext* /*context*/,
                                                        const v1::ReadBlobRequest* /*request*/) override {
    class Refusal final : public grpc::ServerWriteReactor<v1::ReadBlobChunk> {
     public:
      Refusal() {
        Finish(grpc::Status(grpc::StatusCode::UNIMPLEMENTED,
                            "workers of this daemon run on its machine and read traces from their path"));
      }
      void OnDone() override { delete this; }
    };
    return new Refusal();
  }

  grpc::ServerReadReactor<v1::WriteArtifactRequest>* WriteArtifact(
      grpc::CallbackServerContext* /*context*/, v1::WriteArtifactResponse* response) override {
    return StartArtifact({deps_.jobs, deps_.blobs, deps_.executor, deps_.artifact_bytes_max}, response);
  }

  grpc::ServerUnaryReactor* Complete(grpc::CallbackServerContext* context, const v1::CompleteRequest* request,
                                     v1::CompleteResponse* response) override {
    return RunUnary(context, deps_.executor, "ATTEMPT", [this, request, response]() -> absl::Status {
      ASSIGN_OR_RETURN(Completion completion, CompletionFromMessage(*request));
      if (request->has_final_progress()) {
        completion.final_progress = ProgressFromMessage(request->final_progress());
      }
      ASSIGN_OR_RETURN(
          const bool accepted,
          deps_.jobs.Complete(request->session(), AttemptFromMessage(request->attempt()), completion));
      response->set_accepted(accepted);
      return absl::OkStatus();
    });
  }

 private:
  const WorkerServiceDeps deps_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeWorkerService(const WorkerServiceDeps& deps) {
  return std::make_unique<WorkerServiceImpl>(deps);
}

}  // namespace sm89
