// The daemon, wired: stores, managers, services, servers. main() parses and waits; everything else is here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/config/server_config.h"

namespace sm89 {

struct DaemonOptions {
  ServerConfig config;
  std::string program_dir;                      // where the daemon's own program lies
  std::vector<std::string> worker_environment;  // "NAME=value", passed on to workers
};

struct DaemonAddresses {
  std::string grpc;
  std::string unix_socket;
  std::string metrics;  // empty = none
};

class Daemon {
 public:
  // Serving when it returns. Every problem of the surroundings (folder in use, port taken, worker program
  // missing) is an error that says what and where.
  static absl::StatusOr<std::unique_ptr<Daemon>> Start(const DaemonOptions& options);
  // Cuts what is still open and ends at once; jobs that run go on in their workers and are taken up by the
  // next daemon.
  virtual ~Daemon() = default;

  virtual const DaemonAddresses& addresses() const = 0;
  // Health says NOT_SERVING, submits are refused, watchers are told, nothing is dispatched, idle workers
  // stop.
  virtual void BeginDrain() = 0;
  // No job is running any more.
  virtual bool Drained() = 0;
  // Calls still open get the configured time to end.
  virtual void EndCalls() = 0;
};

}  // namespace sm89
