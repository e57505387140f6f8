#include "server/service/finalize_call.h"

#include <utility>

#include "server/os/id_source.h"
#include "server/service/status_conversion.h"
#include "server/service/trace_messages.h"
#include "server/service/validation.h"
#include "sim/base/fault.h"

namespace sm89 {
namespace {

// A reader that misses files inside the upload says NOT_FOUND; to a client that would read as "no such
// upload".
absl::Status ForClient(const absl::Status& status) {
  const std::vector<Fault> faults = FaultsOf(status);
  if (!absl::IsNotFound(status) || faults.empty()) return status;
  return InputError(absl::StatusCode::kInvalidArgument, "", faults);
}

}  // namespace

FinalizeCall::FinalizeCall(TraceManager& traces, Executor& executor, const v1::FinalizeUploadRequest& request,
                           v1::Trace* response)
    : traces_(traces), response_(response) {
  {
    MutexLock lock(shared_->mutex);
    shared_->call = this;
  }
  absl::StatusOr<std::string> id = ParseName("upload", request.upload(), "uploads", IsId);
  if (!id.ok()) {
    Answer(*shared_, id.status());
    return;
  }
  id_ = *std::move(id);
  const auto start = [shared = shared_, &traces, name = id_] { Start(shared, traces, name); };
  if (!executor.Post(start)) {
    Answer(*shared_, absl::ResourceExhaustedError("the server is too busy; finalize again later"));
  }
}

void FinalizeCall::Start(const std::shared_ptr<Shared>& shared, TraceManager& traces, const std::string& id) {
  const uint64_t ticket =
      traces.Finalize(id, [shared](const absl::StatusOr<TraceRecord>& result) { Answer(*shared, result); });
  bool gone = false;
  {
    MutexLock lock(shared->mutex);
    shared->ticket = ticket;
    gone = shared->call == nullptr;
  }
  if (gone) traces.ForgetFinalize(id, ticket);
}

void FinalizeCall::Answer(Shared& shared, const absl::StatusOr<TraceRecord>& result) {
  MutexLock lock(shared.mutex);
  FinalizeCall* const call = std::exchange(shared.call, nullptr);
  if (call == nullptr) return;
  if (result.ok()) ToMessage(*result, call->response_);
  call->Finish(ToGrpc(ForClient(result.status()), kTraceSubject));
}

void FinalizeCall::OnCancel() {
  // The reactor may be deleted as soon as another thread has finished it, but not before this returns.
  const std::shared_ptr<Shared> shared = shared_;
  Answer(*shared, absl::CancelledError("the call ended before the upload was read; it goes on, ask again"));
  uint64_t ticket = 0;
  {
    MutexLock lock(shared->mutex);
    ticket = shared->ticket;
  }
  if (ticket != 0) traces_.ForgetFinalize(id_, ticket);
}

}  // namespace sm89
