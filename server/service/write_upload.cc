#include "server/service/write_upload.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "server/os/id_source.h"
#include "server/service/status_conversion.h"
#include "server/service/trace_messages.h"
#include "server/service/validation.h"
#include "sim/base/status_macros.h"

namespace sm89 {

WriteUploadCall::WriteUploadCall(TraceManager& traces, Executor& executor, IdleWatch& idle,
                                 grpc::CallbackServerContext* context, v1::WriteUploadResponse* response)
    : traces_(traces), executor_(executor), idle_(idle), context_(context), response_(response) {
  idle_.Add(this, [context] { context->TryCancel(); });
  StartRead(&request_);
}

void WriteUploadCall::OnReadDone(bool ok) {
  Post(ok ? &WriteUploadCall::TakeChunk : &WriteUploadCall::EndBroken);
}

void WriteUploadCall::OnDone() {
  idle_.Remove(this);
  delete this;
}

void WriteUploadCall::Post(void (WriteUploadCall::*step)()) {
  if (executor_.Post([this, step] { (this->*step)(); })) return;
  End(absl::ResourceExhaustedError("the server is too busy; go on with the upload later"));
}

void WriteUploadCall::TakeChunk() {
  idle_.Touch(this);
  const absl::Status written = WriteChunk();
  if (!written.ok()) return End(written);
  if (!request_.finish()) return StartRead(&request_);
  const absl::StatusOr<uint64_t> committed = stream_->Finish();
  if (committed.ok()) response_->set_committed_bytes(*committed);
  End(committed.status());
}

absl::Status WriteUploadCall::WriteChunk() {
  if (stream_ == nullptr) {
    ASSIGN_OR_RETURN(const std::string id, ParseName("upload", request_.upload(), "uploads", IsId));
    ASSIGN_OR_RETURN(stream_, traces_.OpenStream(id));
  } else if (!request_.upload().empty()) {
    return FieldError("upload", request_.upload(), "nothing after the first message",
                      "the upload is named by the first message only");
  }
  return stream_->Write(request_.offset(), request_.data(), request_.crc32());
}

void WriteUploadCall::EndBroken() {
  std::string kept = "nothing";
  if (stream_ != nullptr) {
    const absl::StatusOr<uint64_t> committed = stream_->Finish();
    kept = committed.ok() ? absl::StrCat(*committed, " bytes") : std::string(committed.status().message());
  }
  if (context_->IsCancelled())
    return End(absl::CancelledError(absl::StrCat("the stream was cut; kept: ", kept)));
  End(absl::InvalidArgumentError(absl::StrCat(
      "the stream ended without finish=true, or with a message that could not be read; kept: ", kept)));
}

void WriteUploadCall::End(const absl::Status& status) {
  stream_.reset();  // syncs what it wrote, here and not on gRPC's thread
  Finish(ToGrpc(status, kTraceSubject));
}

}  // namespace sm89
