#include "server/pool/exit_class.h"

#include <csignal>

#include "absl/strings/str_cat.h"
#include "server/pool/worker_exit.h"

namespace sm89 {
namespace {

// As sim/base/assert.h and the worker's memory handler write them.
constexpr std::string_view kAssertionMark = "sm89 assertion failed";
constexpr std::string_view kMemoryMark = "sm89-worker: memory limit";

// Signals that a program brings on itself.
bool IsCrash(int signal) {
  switch (signal) {
    case SIGABRT:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGSEGV:
    case SIGSYS:
    case SIGTRAP:
    case SIGXFSZ:
      return true;
    default:
      return false;
  }
}

ExitClass FromText(std::string_view stderr_tail) {
  if (stderr_tail.find(kAssertionMark) != std::string_view::npos) {
    return {AttemptEnd::kCrashed, "the worker failed an assertion while no daemon was there"};
  }
  if (stderr_tail.find(kMemoryMark) != std::string_view::npos) {
    return {AttemptEnd::kMemoryLimit, "the worker reached its memory limit"};
  }
  return {AttemptEnd::kWorkerDied, "the worker process is gone (exit status unknown)"};
}

}  // namespace

ExitClass ClassifyExit(const std::optional<ProcessExit>& exit, std::string_view stderr_tail) {
  if (!exit.has_value()) return FromText(stderr_tail);
  const std::string how = absl::StrCat("the worker process ended: ", DescribeExit(*exit));
  if (exit->signal != 0) {
    return {IsCrash(exit->signal) ? AttemptEnd::kCrashed : AttemptEnd::kWorkerDied, how};
  }
  switch (static_cast<WorkerExitCode>(exit->code)) {
    case WorkerExitCode::kMemoryLimit:
      return {AttemptEnd::kMemoryLimit, "the worker reached its memory limit"};
    case WorkerExitCode::kDaemonGone:
      return {AttemptEnd::kWorkerDied, "the worker gave up waiting for the daemon"};
    case WorkerExitCode::kDone:
    case WorkerExitCode::kRefused:
      return {AttemptEnd::kWorkerDied, how};
    case WorkerExitCode::kBadUsage:
      break;
  }
  return {AttemptEnd::kCrashed, how};
}

}  // namespace sm89
