// The two gRPC servers of the daemon: one for clients (TCP and a Unix socket), one for workers (a Unix socket
// of its own, so that no client can even name the worker service).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/config/server_config.h"
#include "server/metrics/rpc_metrics.h"
#include "server/os/clock.h"

namespace grpc {
class Service;
}

namespace sm89 {

struct GrpcServerOptions {
  ListenSettings listen;
  std::string unix_socket;    // of clients; empty = none
  std::string worker_socket;  // path
};

class GrpcServers {
 public:
  // Services and metrics must outlive the servers. UNAVAILABLE naming the address when it cannot be had (a
  // port in use, a path too long for a socket).
  static absl::StatusOr<std::unique_ptr<GrpcServers>> Start(
      const GrpcServerOptions& options, const std::vector<grpc::Service*>& public_services,
      grpc::Service* worker_service, RpcMetrics& metrics);
  virtual ~GrpcServers() = default;

  // Where clients reach it, with the actual port: "127.0.0.1:8989", or "unix:/path" without TCP.
  virtual const std::string& address() const = 0;
  // Health v1, overall and per service. Starts as SERVING.
  virtual void SetServing(bool serving) = 0;
  // No new calls from clients; calls still open after `wait` are cut. Returns when all ended.
  virtual void ShutdownPublic(Duration wait) = 0;
  virtual void ShutdownWorkers(Duration wait) = 0;
};

// "unix:/run/x/worker.sock" from a path. INVALID_ARGUMENT when the system's sockets cannot have such a long
// one.
absl::StatusOr<std::string> UnixAddress(const std::string& path);

}  // namespace sm89
