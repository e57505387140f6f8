// One FinalizeUpload call: waits without a thread until the upload has been read or the client goes away.
// Private to server/service.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/os/executor.h"
#include "server/os/mutex.h"
#include "server/traces/trace_manager.h"
#include "sm89/v1/trace.pb.h"

namespace sm89 {

// Deletes itself when done.
class FinalizeCall final : public grpc::ServerUnaryReactor {
 public:
  FinalizeCall(TraceManager& traces, Executor& executor, const v1::FinalizeUploadRequest& request,
               v1::Trace* response);

  void OnCancel() override;
  void OnDone() override { delete this; }

 private:
  // Outlives the reactor: the manager's answer may come after a cancelled call has gone.
  struct Shared {
    Mutex mutex;
    FinalizeCall* call SM89_GUARDED_BY(mutex) = nullptr;  // null once finished
    uint64_t ticket SM89_GUARDED_BY(mutex) = 0;
  };
  static void Start(const std::shared_ptr<Shared>& shared, TraceManager& traces, const std::string& id);
  static void Answer(Shared& shared, const absl::StatusOr<TraceRecord>& result);

  TraceManager& traces_;
  v1::Trace* response_;
  std::string id_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace sm89
