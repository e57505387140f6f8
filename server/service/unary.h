// Runs a unary method on an executor. Include in .cc files only: it pulls in gRPC.
#pragma once

#include <grpcpp/grpcpp.h>

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "server/service/executor.h"
#include "server/service/status_conversion.h"

namespace sm89 {

// `subject` begins an error's reason (status_conversion.h) and must live for ever. `body` gives the call's
// status after filling the response; request and response live until then.
template <class Body>
grpc::ServerUnaryReactor* RunUnary(grpc::CallbackServerContext* context, Executor& executor,
                                   std::string_view subject, Body body) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const bool accepted =
      executor.Post([reactor, subject, body = std::move(body)] { reactor->Finish(ToGrpc(body(), subject)); });
  if (!accepted) {
    reactor->Finish(
        ToGrpc(absl::ResourceExhaustedError("the server is overloaded: try again later"), subject));
  }
  return reactor;
}

}  // namespace sm89
