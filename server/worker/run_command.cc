#include "server/worker/run_command.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <thread>

#include "server/log/log.h"
#include "server/worker/worker_loop.h"

namespace sm89 {
namespace {

std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "unknown";
}

// Turns SIGTERM and SIGINT into WorkerLoop::Stop; the second one does nothing more (the daemon kills next).
class StopSignals {
 public:
  explicit StopSignals(WorkerLoop& loop) : thread_([&loop] { Wait(loop); }) {}
  ~StopSignals() {
    pthread_kill(thread_.native_handle(), SIGTERM);
    thread_.join();
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  static void Wait(WorkerLoop& loop) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    int signal = 0;
    sigwait(&signals, &signal);
    loop.Stop();
  }
  std::thread thread_;
};

}  // namespace

int RunWorkerCommand(const RunCommandOptions& options) {
  const absl::StatusOr<WorkerFault> fault = WorkerFault::Parse(options.fault);
  if (!fault.ok()) {
    Log(LogLevel::kError, "bad_fault", {{"error", fault.status().message()}});
    return static_cast<int>(WorkerExitCode::kBadUsage);
  }
  // A file at its limit is the error of a write, which fails one job.
  std::signal(SIGXFSZ, SIG_IGN);
  const std::unique_ptr<DaemonLink> link = DialDaemon(options.connect);
  AttemptRunner runner(SystemClock(), *fault);
  WorkerLoopOptions loop_options;
  loop_options.ticket = options.ticket;
  loop_options.host = HostName();
  loop_options.pid = getpid();
  loop_options.give_up = std::chrono::seconds(options.give_up_seconds);
  WorkerLoop loop(loop_options, SystemClock(), *link, runner);
  const StopSignals signals(loop);
  return static_cast<int>(loop.Run());
}

}  // namespace sm89
