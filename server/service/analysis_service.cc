#include "server/service/analysis_service.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/os/id_source.h"
#include "server/service/analysis_messages.h"
#include "server/service/status_conversion.h"
#include "server/service/validation.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sm89/v1/analysis.grpc.pb.h"

namespace sm89 {
namespace {

constexpr char kSubject[] = "ANALYSIS";
constexpr uint64_t kChunkBytes = uint64_t{1} << 20;

absl::Status NotAProgram(const TraceRecord& trace) {
  Fault fault;
  fault.field = "trace";
  fault.value = absl::StrCat("traces/", trace.id);
  fault.expected = "an uploaded program in state READY";
  fault.message = trace.state == TraceState::kReady ? "it is a trace: it holds no machine code to analyse"
                                                    : absl::StrCat("it is ", std::string(Name(trace.state)));
  return InputError(absl::StatusCode::kFailedPrecondition, fault);
}

// One call: the child on the analyses' threads, then piece by piece on the executor. A step is posted only
// when what came before it is done, so only the flags are touched by two threads.
class AnalyzeReactor final : public grpc::ServerWriteReactor<v1::AnalyzeChunk> {
 public:
  AnalyzeReactor(const AnalysisServiceDeps& deps, const v1::AnalyzeRequest& request)
      : deps_(deps), request_(request) {}

  void Begin() {
    if (deps_.analyses.Post([this] { Analyze(); })) return;
    End(absl::ResourceExhaustedError("too many analyses wait already: try again later"));
  }

 private:
  void OnWriteDone(bool ok) override {
    if (!ok || cancel_.cancelled()) return End(absl::CancelledError("the client went away"));
    PostNext();
  }
  // Kills the child if it runs; a pending write ends with ok = false.
  void OnCancel() override { cancel_.Cancel(); }
  void OnDone() override { delete this; }

  void End(const absl::Status& status) {
    answer_.reset();  // nothing is left in the scratch folder when the client hears the end
    Finish(ToGrpc(status, kSubject));
  }

  void PostNext() {
    if (deps_.executor.Post([this] { Next(); })) return;
    End(absl::ResourceExhaustedError("the server is overloaded: try again later"));
  }

  void Analyze() {
    if (cancel_.cancelled()) return End(absl::CancelledError("the client went away"));
    absl::StatusOr<std::unique_ptr<AnalysisAnswer>> answer = Run();
    if (!answer.ok()) return End(answer.status());
    answer_ = *std::move(answer);
    PostNext();
  }

  absl::StatusOr<std::unique_ptr<AnalysisAnswer>> Run() {
    ASSIGN_OR_RETURN(AnalysisJob job, JobFromMessage(request_));
    if (request_.has_trace()) {
      ASSIGN_OR_RETURN(const std::string id, ParseName("trace", request_.trace(), "traces", IsId));
      ASSIGN_OR_RETURN(const TraceRecord trace, deps_.traces.Get(id));
      if (trace.state != TraceState::kReady || !IsProgram(trace.content)) return NotAProgram(trace);
      job.image_path = deps_.blobs.PathOf(trace.content.blob);
    }
    return deps_.runner.Run(job, cancel_);
  }

  void Next() {
    absl::StatusOr<std::string> data = answer_->file().Read(offset_, kChunkBytes);
    if (!data.ok() || data->empty()) return End(data.status());
    offset_ += data->size();
    chunk_.set_data(*std::move(data));
    StartWrite(&chunk_);
  }

  const AnalysisServiceDeps deps_;
  const v1::AnalyzeRequest request_;
  ChildCancel cancel_;
  std::unique_ptr<AnalysisAnswer> answer_;
  uint64_t offset_ = 0;
  v1::AnalyzeChunk chunk_;
};

class AnalysisServiceImpl final : public v1::AnalysisService::CallbackService {
 public:
  explicit AnalysisServiceImpl(const AnalysisServiceDeps& deps) : deps_(deps) {}

  grpc::ServerWriteReactor<v1::AnalyzeChunk>* Analyze(grpc::CallbackServerContext*,
                                                      const v1::AnalyzeRequest* request) override {
    auto* reactor = new AnalyzeReactor(deps_, *request);
    reactor->Begin();
    return reactor;
  }

 private:
  const AnalysisServiceDeps deps_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeAnalysisService(const AnalysisServiceDeps& deps) {
  return std::make_unique<AnalysisServiceImpl>(deps);
}

}  // namespace sm89
