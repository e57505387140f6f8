// The worker's calls to the daemon, blocking, each with a deadline. An interface, so that the worker's loop
// is tested without a network.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/worker/finished_artifact.h"
#include "sm89/v1/worker.pb.h"

namespace sm89 {

// Thread-safe.
class DaemonLink {
 public:
  virtual ~DaemonLink() = default;
  virtual absl::StatusOr<v1::AttachResponse> Attach(const v1::AttachRequest& request) = 0;
  virtual absl::StatusOr<v1::PollResponse> Poll(const v1::PollRequest& request) = 0;
  virtual absl::StatusOr<v1::HeartbeatResponse> Heartbeat(const v1::HeartbeatRequest& request) = 0;
  // In chunks. `first` names session, attempt and artifact.
  virtual absl::Status WriteArtifact(const v1::WriteArtifactRequest& first,
                                     const FinishedArtifact& artifact) = 0;
  virtual absl::StatusOr<v1::CompleteResponse> Complete(const v1::CompleteRequest& request) = 0;
  // Ends a waiting Poll, and every later one at once, with CANCELLED.
  virtual void StopPolling() = 0;
};

// `address` as gRPC names it: "unix:/path" or "host:port".
std::unique_ptr<DaemonLink> DialDaemon(const std::string& address);

}  // namespace sm89
