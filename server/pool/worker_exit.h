// Exit codes of `sm89-worker run`: what the pool can tell from a worker that ended without completing.
#pragma once

namespace sm89 {

enum class WorkerExitCode : int {
  kDone = 0,          // told to stop
  kBadUsage = 64,     // command line
  kDaemonGone = 75,   // no daemon for longer than the worker waits; its attempt is given up
  kRefused = 76,      // the daemon does not want this worker (ticket, session, version)
  kMemoryLimit = 77,  // the attempt asked for more memory than its job may have
};

}  // namespace sm89
