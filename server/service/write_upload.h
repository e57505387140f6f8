// One WriteUpload stream. Private to server/service.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <memory>

#include "absl/status/status.h"
#include "server/os/executor.h"
#include "server/service/idle_watch.h"
#include "server/traces/trace_manager.h"
#include "sm89/v1/trace.pb.h"

namespace sm89 {

// Reads one message, hands it to the executor, and only then reads the next: one chunk in memory, no file I/O
// on gRPC's threads, and the client is slowed to the disk's pace. The client's half-close and a message that
// cannot be parsed look alike here, so that only finish=true ends a stream well. Deletes itself when done.
class WriteUploadCall final : public grpc::ServerReadReactor<v1::WriteUploadRequest> {
 public:
  WriteUploadCall(TraceManager& traces, Executor& executor, IdleWatch& idle,
                  grpc::CallbackServerContext* context, v1::WriteUploadResponse* response);

  void OnReadDone(bool ok) override;
  void OnDone() override;

 private:
  void Post(void (WriteUploadCall::*step)());
  // On the executor:
  void TakeChunk();
  void EndBroken();

  absl::Status WriteChunk();
  void End(const absl::Status& status);

  TraceManager& traces_;
  Executor& executor_;
  IdleWatch& idle_;
  grpc::CallbackServerContext* context_;
  v1::WriteUploadResponse* response_;
  v1::WriteUploadRequest request_;
  std::unique_ptr<UploadStream> stream_;
};

}  // namespace sm89
