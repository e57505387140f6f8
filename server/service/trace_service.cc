#include "server/service/trace_service.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/os/id_source.h"
#include "server/service/finalize_call.h"
#include "server/service/idle_watch.h"
#include "server/service/paging.h"
#include "server/service/trace_messages.h"
#include "server/service/unary_call.h"
#include "server/service/validation.h"
#include "server/service/write_upload.h"
#include "sim/base/status_macros.h"
#include "sm89/v1/trace.grpc.pb.h"

namespace sm89 {
namespace {

using Context = grpc::CallbackServerContext;
using Unary = grpc::ServerUnaryReactor;

constexpr uint32_t kPageSize = 50;
constexpr uint32_t kPageSizeMax = 1000;
constexpr Duration kIdleCheck = std::chrono::seconds(1);

class TraceServiceImpl final : public v1::TraceService::CallbackService {
 public:
  TraceServiceImpl(TraceManager& traces, Executor& executor, const Clock& clock,
                   const TraceServiceOptions& options)
      : traces_(traces),
        executor_(executor),
        options_(options),
        idle_(clock, options.stream_idle_max, kIdleCheck) {}

  Unary* BeginUpload(Context* context, const v1::BeginUploadRequest* request,
                     v1::BeginUploadResponse* response) override {
    return RunUnary(context, executor_, kTraceSubject, [this, request, response]() -> absl::Status {
      ASSIGN_OR_RETURN(const auto begin, FromMessage(*request));
      ASSIGN_OR_RETURN(const BeginUploadAnswer answer, traces_.Begin(begin));
      response->set_max_chunk_bytes(static_cast<uint32_t>(options_.max_chunk_bytes));
      if (answer.existing.has_value()) {
        ToMessage(*answer.existing, response->mutable_existing());
      } else {
        response->set_upload("uploads/" + answer.upload_id);
        response->set_committed_bytes(answer.committed_bytes);
      }
      return absl::OkStatus();
    });
  }

  grpc::ServerReadReactor<v1::WriteUploadRequest>* WriteUpload(Context* context,
                                                               v1::WriteUploadResponse* response) override {
    return new WriteUploadCall(traces_, executor_, idle_, context, response);
  }

  Unary* QueryWriteStatus(Context* context, const v1::QueryWriteStatusRequest* request,
                          v1::QueryWriteStatusResponse* response) override {
    return RunUnary(context, executor_, kTraceSubject, [this, request, response]() -> absl::Status {
      ASSIGN_OR_RETURN(const std::string id, ParseName("upload", request->upload(), "uploads", IsId));
      ASSIGN_OR_RETURN(const TraceRecord record, traces_.Query(id));
      const bool uploading = record.state == TraceState::kUploading;
      const uint64_t committed = uploading ? record.committed_bytes : record.upload_bytes;
      response->set_committed_bytes(committed);
      response->set_size_bytes(record.upload_bytes);
      response->set_complete(committed == record.upload_bytes);
      return absl::OkStatus();
    });
  }

  Unary* FinalizeUpload(Context*, const v1::FinalizeUploadRequest* request, v1::Trace* response) override {
    return new FinalizeCall(traces_, executor_, *request, response);
  }

  Unary* AbortUpload(Context* context, const v1::AbortUploadRequest* request,
                     v1::AbortUploadResponse*) override {
    return RunUnary(context, executor_, kTraceSubject, [this, request]() -> absl::Status {
      ASSIGN_OR_RETURN(const std::string id, ParseName("upload", request->upload(), "uploads", IsId));
      return traces_.Abort(id);
    });
  }

  Unary* GetTrace(Context* context, const v1::GetTraceRequest* request, v1::Trace* response) override {
    return RunUnary(context, executor_, kTraceSubject, [this, request, response]() -> absl::Status {
      ASSIGN_OR_RETURN(const std::string id, ParseName("name", request->name(), "traces", IsId));
      ASSIGN_OR_RETURN(const TraceRecord record, traces_.Get(id));
      ToMessage(record, response);
      return absl::OkStatus();
    });
  }

  Unary* ListTraces(Context* context, const v1::ListTracesRequest* request,
                    v1::ListTracesResponse* response) override {
    return RunUnary(context, executor_, kTraceSubject,
                    [this, request, response] { return List(*request, response); });
  }

  Unary* DeleteTrace(Context* context, const v1::DeleteTraceRequest* request,
                     v1::DeleteTraceResponse*) override {
    return RunUnary(context, executor_, kTraceSubject, [this, request]() -> absl::Status {
      ASSIGN_OR_RETURN(const std::string id, ParseName("name", request->name(), "traces", IsId));
      const absl::Status deleted = traces_.Delete(id, request->etag());
      return absl::IsNotFound(deleted) && request->allow_missing() ? absl::OkStatus() : deleted;
    });
  }

 private:
  absl::Status List(const v1::ListTracesRequest& request, v1::ListTracesResponse* response) {
    ASSIGN_OR_RETURN(const uint32_t page_size, CheckPageSize(request.page_size(), kPageSize, kPageSizeMax));
    ASSIGN_OR_RETURN(const TraceFilter filter, ParseTraceFilter(request.filter()));
    const std::string scope = absl::StrCat("traces\n", request.filter());
    ASSIGN_OR_RETURN(const int64_t before, ReadPageToken(scope, request.page_token()));
    ASSIGN_OR_RETURN(const TracePage page, traces_.List(filter, before, page_size));
    for (const TraceRecord& record : page.traces) ToMessage(record, response->add_traces());
    response->set_next_page_token(MakePageToken(scope, page.next_before));
    return absl::OkStatus();
  }

  TraceManager& traces_;
  Executor& executor_;
  const TraceServiceOptions options_;
  IdleWatch idle_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeTraceService(TraceManager& traces, Executor& executor, const Clock& clock,
                                                const TraceServiceOptions& options) {
  return std::make_unique<TraceServiceImpl>(traces, executor, clock, options);
}

}  // namespace sm89
