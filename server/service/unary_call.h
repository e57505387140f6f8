// Unary handlers of the callback API whose work may block: it runs on the executor, never on gRPC's threads.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "server/os/executor.h"
#include "server/service/status_conversion.h"

namespace sm89 {

// `work` gives an absl::Status and fills the response. Request and response live until the call is finished.
template <typename Work>
grpc::ServerUnaryReactor* RunUnary(grpc::CallbackServerContext* context, Executor& executor,
                                   std::string_view subject, Work work) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const bool accepted = executor.Post([context, reactor, subject, work = std::move(work)] {
    // Nobody waits for the answer any more: deadline passed or client gone.
    if (context->IsCancelled()) {
      reactor->Finish(
          grpc::Status(grpc::StatusCode::CANCELLED, "the call was cancelled before it was served"));
      return;
    }
    reactor->Finish(ToGrpc(work(), subject));
  });
  if (!accepted) {
    reactor->Finish(ToGrpc(absl::ResourceExhaustedError("the server is too busy; try again later"), subject));
  }
  return reactor;
}

}  // namespace sm89
