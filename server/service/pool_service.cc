#include "server/service/pool_service.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/service/job_messages.h"
#include "server/service/unary_call.h"
#include "sim/base/status_macros.h"
#include "sm89/v1/pool.grpc.pb.h"

namespace sm89 {
namespace {

static_assert(v1::Worker::STARTING == static_cast<int>(WorkerState::kStarting) + 1);
static_assert(v1::Worker::BACKOFF == static_cast<int>(WorkerState::kBackoff) + 1);

v1::Worker MessageOf(const WorkerInfo& info) {
  v1::Worker message;
  message.set_name(absl::StrCat("workers/", info.id));
  message.set_state(static_cast<v1::Worker::State>(static_cast<int>(info.state) + 1));
  if (info.attempt.has_value()) {
    message.set_job(absl::StrCat("jobs/", info.attempt->job));
    message.set_attempt(info.attempt->attempt);
  }
  message.set_pid(info.pid);
  message.set_host(info.host);
  message.set_version(info.version);
  if (info.start_unix_nanos != 0) message.mutable_start_time()->set_unix_nanos(info.start_unix_nanos);
  if (info.last_contact_unix_nanos != 0) {
    message.mutable_last_heartbeat()->set_unix_nanos(info.last_contact_unix_nanos);
  }
  message.set_memory_bytes(info.memory_bytes);
  message.set_jobs_completed(info.attempts_completed);
  message.set_restarts(static_cast<uint32_t>(info.restarts));
  return message;
}

// "" stays "": the whole pool.
absl::StatusOr<std::string> WorkerFrom(const std::string& name) {
  if (name.empty()) return std::string();
  return IdFromName("workers", name, "worker");
}

class PoolServiceImpl final : public v1::PoolService::CallbackService {
 public:
  explicit PoolServiceImpl(PoolServiceDeps deps) : deps_(std::move(deps)) {}

  grpc::ServerUnaryReactor* ListWorkers(grpc::CallbackServerContext* context,
                                        const v1::ListWorkersRequest* /*request*/,
                                        v1::ListWorkersResponse* response) override {
    return RunUnary(context, deps_.executor, "WORKER", [this, response] {
      for (const WorkerInfo& info : deps_.jobs.Workers()) *response->add_workers() = MessageOf(info);
      return absl::OkStatus();
    });
  }

  grpc::ServerUnaryReactor* Drain(grpc::CallbackServerContext* context, const v1::DrainRequest* request,
                                  v1::PoolStatus* response) override {
    return RunUnary(context, deps_.executor, "WORKER", [this, request, response]() -> absl::Status {
      ASSIGN_OR_RETURN(const std::string worker, WorkerFrom(request->worker()));
      RETURN_IF_ERROR(deps_.jobs.DrainPool(worker));
      *response = Status();
      return absl::OkStatus();
    });
  }

  grpc::ServerUnaryReactor* Resume(grpc::CallbackServerContext* context, const v1::ResumeRequest* request,
                                   v1::PoolStatus* response) override {
    return RunUnary(context, deps_.executor, "WORKER", [this, request, response]() -> absl::Status {
      ASSIGN_OR_RETURN(const std::string worker, WorkerFrom(request->worker()));
      RETURN_IF_ERROR(deps_.jobs.ResumePool(worker));
      *response = Status();
      return absl::OkStatus();
    });
  }

  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context,
                                      const v1::GetStatusRequest* /*request*/,
                                      v1::PoolStatus* response) override {
    return RunUnary(context, deps_.executor, "WORKER", [this, response] {
      *response = Status();
      return absl::OkStatus();
    });
  }

 private:
  v1::PoolStatus Status() {
    v1::PoolStatus status;
    status.set_version(deps_.facts.version);
    status.set_model_version(deps_.facts.model_version);
    status.set_build(deps_.facts.build);
    status.mutable_start_time()->set_unix_nanos(deps_.facts.start_unix_nanos);
    status.set_draining(deps_.jobs.draining());
    uint32_t idle = 0;
    uint32_t busy = 0;
    const std::vector<WorkerInfo> workers = deps_.jobs.Workers();
    for (const WorkerInfo& info : workers) {
      if (info.attempt.has_value()) ++busy;
      if (info.state == WorkerState::kIdle) ++idle;
    }
    status.set_workers_total(static_cast<uint32_t>(workers.size()));
    status.set_workers_idle(idle);
    status.set_workers_busy(busy);
    const JobCounts counts = deps_.jobs.Counts();
    uint64_t active = 0;
    for (int i = 0; i < kJobStates; ++i) {
      if (IsActive(static_cast<JobState>(i))) active += counts.by_state[static_cast<size_t>(i)];
    }
    status.set_jobs_queued(static_cast<uint32_t>(counts.by_state[static_cast<size_t>(JobState::kQueued)]));
    status.set_jobs_running(static_cast<uint32_t>(active));
    status.set_traces(deps_.trace_count());
    status.set_store_bytes(deps_.store_bytes());
    status.set_metrics_address(deps_.facts.metrics_address);
    for (const auto& [name, value] : deps_.facts.limits) (*status.mutable_limits())[name] = value;
    return status;
  }

  PoolServiceDeps deps_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakePoolService(PoolServiceDeps deps) {
  return std::make_unique<PoolServiceImpl>(std::move(deps));
}

}  // namespace sm89
