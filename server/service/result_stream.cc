#include "server/service/result_stream.h"

#include <atomic>
#include <memory>
#include <utility>

#include "server/service/job_messages.h"
#include "server/service/result_reader.h"
#include "server/service/status_conversion.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

// Reads on the executor, writes from there; nothing else touches the state, so it needs no lock: a step is
// posted only when the write before it is done.
class ResultReactor final : public grpc::ServerWriteReactor<v1::ResultChunk> {
 public:
  ResultReactor(JobManager& jobs, BlobStore& blobs, Executor& executor, const v1::GetResultRequest& request)
      : jobs_(jobs), blobs_(blobs), executor_(executor), request_(request) {}

  void PostStep() {
    if (!executor_.Post([this] { Step(); })) {
      Finish(ToGrpc(absl::ResourceExhaustedError("the server is overloaded: try again later"), "RESULT"));
    }
  }

 private:
  void OnWriteDone(bool ok) override {
    if (!ok || cancelled_) {
      Finish(grpc::Status(grpc::StatusCode::CANCELLED, "the client went away"));
    } else {
      PostStep();
    }
  }
  // A pending write then ends with ok = false, a pending step sees the flag.
  void OnCancel() override { cancelled_ = true; }
  void OnDone() override { delete this; }

  void Step() {
    if (cancelled_) {
      Finish(grpc::Status(grpc::StatusCode::CANCELLED, "the client went away"));
      return;
    }
    absl::StatusOr<bool> more = Read();
    if (!more.ok() || !*more) {
      Finish(ToGrpc(more.status(), "RESULT"));
      return;
    }
    StartWrite(&chunk_);
  }

  absl::StatusOr<bool> Read() {
    if (reader_ == nullptr) {
      ASSIGN_OR_RETURN(const std::string id, IdFromName("jobs", request_.name(), "name"));
      ASSIGN_OR_RETURN(const JobResult result, jobs_.Result(id));
      const std::vector<std::string> asked(request_.artifacts().begin(), request_.artifacts().end());
      ASSIGN_OR_RETURN(reader_, ResultReader::Open(blobs_, request_.name(), result, asked));
    }
    return reader_->Next(&chunk_);
  }

  JobManager& jobs_;
  BlobStore& blobs_;
  Executor& executor_;
  const v1::GetResultRequest request_;
  std::unique_ptr<ResultReader> reader_;
  v1::ResultChunk chunk_;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace

grpc::ServerWriteReactor<v1::ResultChunk>* StartResult(JobManager& jobs, BlobStore& blobs, Executor& executor,
                                                       const v1::GetResultRequest& request) {
  auto* reactor = new ResultReactor(jobs, blobs, executor, request);
  reactor->PostStep();
  return reactor;
}

}  // namespace sm89
