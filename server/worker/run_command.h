// `sm89-worker run`.
#pragma once

#include <cstdint>
#include <string>

namespace sm89 {

struct RunCommandOptions {
  std::string connect;  // the daemon's worker address
  std::string ticket;
  uint32_t give_up_seconds = 120;
  std::string fault;  // SM89_WORKER_FAULT; tests only
};

// Gives the exit code (server/pool/worker_exit.h). SIGTERM and SIGINT must be blocked already.
int RunWorkerCommand(const RunCommandOptions& options);

}  // namespace sm89
