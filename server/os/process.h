// Child processes: started with posix_spawn (never fork: the daemon has threads and gRPC), each in its own
// process group, with a clean environment, no inherited descriptors, default signal handling and limits.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sm89 {

struct ProcessSpec {
  std::string program;                   // path, not looked up in PATH
  std::vector<std::string> args;         // without argv[0]
  std::vector<std::string> environment;  // "NAME=value"; nothing else is passed on
  std::string stdout_path;               // appended to, made with mode 0600; empty = /dev/null
  std::string stderr_path;               // same file as stdout_path is allowed
  uint64_t address_space_bytes = 0;      // RLIMIT_AS; 0 = no limit
  uint64_t file_bytes = 0;               // RLIMIT_FSIZE; 0 = no limit
  uint64_t cpu_seconds = 0;              // RLIMIT_CPU; 0 = no limit
};

struct ProcessExit {
  int code = 0;    // when signal == 0
  int signal = 0;  // what killed it
  uint64_t max_rss_bytes = 0;

  bool success() const { return signal == 0 && code == 0; }
};
// "exit code 3", "killed by signal 9 (Killed)".
std::string DescribeExit(const ProcessExit& exit);

// A started child. Destroying the handle neither kills nor forgets it: it is reaped all the same.
class Process {
 public:
  virtual ~Process() = default;
  virtual pid_t pid() const = 0;
  // To the whole process group; no-ops once the child has been reaped (a pid is never signalled after that).
  virtual void Terminate() = 0;  // SIGTERM
  virtual void Kill() = 0;       // SIGKILL
};

// Called once, on the launcher's thread, after the child was reaped: be quick, do not block. May be called
// before Start has returned.
using ExitCallback = std::function<void(const ProcessExit&)>;

// Thread-safe.
class ProcessLauncher {
 public:
  virtual ~ProcessLauncher() = default;
  virtual absl::StatusOr<std::unique_ptr<Process>> Start(const ProcessSpec& spec, ExitCallback on_exit) = 0;
};

// Real processes, reaped through pidfds by one thread. The destructor stops watching (callbacks of children
// that still run are never called) and leaves the children alone.
absl::StatusOr<std::unique_ptr<ProcessLauncher>> MakeProcessLauncher();

// Processes that are not our children (workers of an earlier daemon). A pid alone may have been reused, so it
// comes with the start time in clock ticks since boot (field 22 of /proc/PID/stat).
absl::StatusOr<uint64_t> ProcessStartTicks(pid_t pid);
// Signals `pid`'s process group if the process is still the one that started at `start_ticks`; NOT_FOUND
// otherwise.
absl::Status SignalProcessGroup(pid_t pid, uint64_t start_ticks, int signal);
// Resident set; NOT_FOUND when there is no such process.
absl::StatusOr<uint64_t> ProcessRssBytes(pid_t pid);

}  // namespace sm89
