#include "server/pool/process_probe.h"

#include "absl/status/status.h"
#include "server/log/log.h"
#include "server/os/process.h"

namespace sm89 {
namespace {

class PosixProcessProbe final : public ProcessProbe {
 public:
  absl::StatusOr<uint64_t> StartTicks(int64_t pid) override {
    return ProcessStartTicks(static_cast<pid_t>(pid));
  }

  bool Alive(int64_t pid, uint64_t start_ticks) override {
    const absl::StatusOr<uint64_t> ticks = ProcessStartTicks(static_cast<pid_t>(pid));
    if (!ticks.ok() || *ticks != start_ticks) return false;
    // A zombie has given its memory back, a running program never has none.
    const absl::StatusOr<uint64_t> rss = ProcessRssBytes(static_cast<pid_t>(pid));
    return rss.ok() && *rss > 0;
  }

  void Signal(int64_t pid, uint64_t start_ticks, int signal) override {
    const absl::Status sent = SignalProcessGroup(static_cast<pid_t>(pid), start_ticks, signal);
    if (!sent.ok() && !absl::IsNotFound(sent)) {
      Log(LogLevel::kError, "worker_signal_failed", {{"pid", pid}, {"error", sent.message()}});
    }
  }
};

}  // namespace

ProcessProbe& SystemProcessProbe() {
  static PosixProcessProbe probe;
  return probe;
}

}  // namespace sm89
