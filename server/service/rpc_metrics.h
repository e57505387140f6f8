// Measures every RPC of a server: method, status code, time.
#pragma once

#include <grpcpp/server_builder.h>

#include <memory>
#include <vector>

#include "server/metrics/rpc_metrics.h"

namespace sm89 {

// Every method that the daemon serves, from the descriptors of its protocol, with health and reflection.
std::vector<RpcMethod> ServedRpcMethods();

// Adds the measuring interceptor; call once for a builder, before BuildAndStart. `metrics` must outlive the
// server. An RPC that ends without a status of ours (its client vanished) counts as CANCELLED. A method
// that no service has never reaches an interceptor and is not counted.
void MeasureRpcs(grpc::ServerBuilder& builder, RpcMetrics& metrics);

}  // namespace sm89
