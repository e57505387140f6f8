// gRPC's own messages (TLS refusals, dropped connections) as lines of ours.
#pragma once

namespace sm89 {

// From now on gRPC's errors become warnings of ours (they are about one peer, not about the daemon), event
// "grpc", its source file in field `source`. Its chatter follows only at level debug. Call once, after
// InitLogging and before the first channel.
void RouteGrpcLogs();

}  // namespace sm89
