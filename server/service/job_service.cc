#include "server/service/job_service.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/service/job_messages.h"
#include "server/service/result_stream.h"
#include "server/service/unary_call.h"
#include "server/service/watch_stream.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sm89/v1/job.grpc.pb.h"

namespace sm89 {
namespace {

absl::Status FieldFault(const std::string& field, const std::string& value, const std::string& expected,
                        const std::string& message) {
  Fault fault;
  fault.field = field;
  fault.value = value;
  fault.expected = expected;
  fault.message = message;
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

absl::StatusOr<JobPatch> PatchFrom(const v1::UpdateJobRequest& request) {
  JobPatch patch;
  patch.etag = request.job().etag();
  if (request.update_mask().paths().empty()) {
    return FieldFault("update_mask", "", "spec.labels, spec.priority", "the mask names no field");
  }
  for (const std::string& path : request.update_mask().paths()) {
    if (path == "spec.labels") {
      patch.labels.emplace(request.job().spec().labels().begin(), request.job().spec().labels().end());
    } else if (path == "spec.priority") {
      patch.priority = request.job().spec().priority();
    } else {
      return FieldFault("update_mask", path.substr(0, 64), "spec.labels, spec.priority",
                        "this field cannot be changed");
    }
  }
  return patch;
}

class JobServiceImpl final : public v1::JobService::CallbackService {
 public:
  explicit JobServiceImpl(const JobServiceDeps& deps) : deps_(deps) {}

  grpc::ServerUnaryReactor* SubmitJob(grpc::CallbackServerContext* context,
                                      const v1::SubmitJobRequest* request, v1::Job* response) override {
    return RunUnary(context, deps_.executor, "JOB", [this, request, response]() -> absl::Status {
      SubmitRequest submit;
      ASSIGN_OR_RETURN(submit.spec, SpecFromMessage(request->job()));
      submit.request_id = request->request_id();
      submit.validate_only = request->validate_only();
      ASSIGN_OR_RETURN(const JobView view, deps_.jobs.Submit(submit));
      *response = MessageOf(view);
      return absl::OkStatus();
    });
  }

  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context, const v1::GetJobRequest* request,
                                   v1::Job* response) override {
    return RunUnary(context, deps_.executor, "JOB", [this, request, response]() -> absl::Status {
      ASSIGN_OR_RETURN(const std::string id, IdFromName("jobs", request->name(), "name"));
      ASSIGN_OR_RETURN(const JobView view, deps_.jobs.Get(id));
      *response = MessageOf(view);
      return absl::OkStatus();
    });
  }

  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context, const v1::ListJobsRequest* request,
                                     v1::ListJobsResponse* response) override {
    return RunUnary(context, deps_.executor, "JOB", [this, request, response]() -> absl::Status {
      if (request->page_size() < 0) {
        return FieldFault("page_size", absl::StrCat(request->page_size()), "0..1000", "a negative page size");
      }
      const JobListQuery query{static_cast<uint32_t>(request->page_size()), request->page_token(),
                               request->filter()};
      ASSIGN_OR_RETURN(const JobListPage page, deps_.jobs.List(query));
      for (const JobView& view : page.jobs) *response->add_jobs() = MessageOf(view);
      response->set_next_page_token(page.next_page_token);
      response->set_total(static_cast<uint32_t>(page.total));
      return absl::OkStatus();
    });
  }

  grpc::ServerUnaryReactor* CancelJob(grpc::CallbackServerContext* context,
                                      const v1::CancelJobRequest* request, v1::Job* response) override {
    return RunUnary(context, deps_.executor, "JOB", [this, request, response]() -> absl::Status {
      ASSIGN_OR_RETURN(const std::string id, IdFromName("jobs", request->name(), "name"));
      ASSIGN_OR_RETURN(const JobView view, deps_.jobs.Cancel(id, request->reason()));
      *response = MessageOf(view);
      return absl::OkStatus();
    });
  }

  grpc::ServerUnaryReactor* UpdateJob(grpc::CallbackServerContext* context,
                                      const v1::UpdateJobRequest* request, v1::Job* response) override {
    return RunUnary(context, deps_.executor, "JOB", [this, request, response]() -> absl::Status {
      ASSIGN_OR_RETURN(const std::string id, IdFromName("jobs", request->job().name(), "job.name"));
      ASSIGN_OR_RETURN(const JobPatch patch, PatchFrom(*request));
      ASSIGN_OR_RETURN(const JobView view, deps_.jobs.Update(id, patch));
      *response = MessageOf(view);
      return absl::OkStatus();
    });
  }

  grpc::ServerUnaryReactor* DeleteJob(grpc::CallbackServerContext* context,
                                      const v1::DeleteJobRequest* request,
                                      v1::DeleteJobResponse* /*response*/) override {
    return RunUnary(context, deps_.executor, "JOB", [this, request]() -> absl::Status {
      ASSIGN_OR_RETURN(const std::string id, IdFromName("jobs", request->name(), "name"));
      return deps_.jobs.Delete(id, request->etag(), request->allow_missing());
    });
  }

  grpc::ServerWriteReactor<v1::JobUpdate>* WatchJob(grpc::CallbackServerContext* /*context*/,
                                                    const v1::WatchJobRequest* request) override {
    return StartWatch(deps_.jobs, deps_.executor, *request);
  }

  grpc::ServerWriteReactor<v1::ResultChunk>* GetResult(grpc::CallbackServerContext* /*context*/,
                                                       const v1::GetResultRequest* request) override {
    return StartResult(deps_.jobs, deps_.blobs, deps_.executor, *request);
  }

 private:
  const JobServiceDeps deps_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeJobService(const JobServiceDeps& deps) {
  return std::make_unique<JobServiceImpl>(deps);
}

}  // namespace sm89
