// Where the pool keeps what it needs to know its workers again after the daemon was restarted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sm89 {

// One worker process. Tokens are stored as SHA-256 only.
struct WorkerSession {
  std::string worker;
  std::string ticket_sha256;
  std::string session_sha256;  // empty until the worker attached
  int64_t pid = 0;
  uint64_t start_ticks = 0;  // with the pid: the identity of a process
  std::string host;
  std::string version;
  int64_t start_unix_nanos = 0;
  uint64_t restarts = 0;
  bool draining = false;
};

class SessionStore {
 public:
  virtual ~SessionStore() = default;
  // Durable when it returns OK. Replaces the worker's record.
  virtual absl::Status Save(const WorkerSession& session) = 0;
  virtual absl::Status Erase(const std::string& worker) = 0;
  virtual absl::StatusOr<std::vector<WorkerSession>> Load() = 0;
};

}  // namespace sm89
