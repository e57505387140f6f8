#include "server/os/child_run.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"

namespace sm89 {

// How late a wall-time limit may be noticed.
constexpr Duration kPoll = std::chrono::milliseconds(200);
constexpr uint64_t kStderrTailBytes = 2048;

void ChildCancel::Cancel() {
  MutexLock lock(mutex_);
  cancelled_ = true;
  changed_.NotifyAll();
}

bool ChildCancel::cancelled() {
  MutexLock lock(mutex_);
  return cancelled_;
}

// Guarded by the cancel's mutex.
struct ChildWait {
  bool ended = false;
  ChildEnd end;

  static void NoteExit(ChildWait& wait, ChildCancel& cancel, const ProcessExit& exit) {
    MutexLock lock(cancel.mutex_);
    wait.end.exit = exit;
    wait.ended = true;
    cancel.changed_.NotifyAll();
  }

  static ChildEnd AwaitEnd(ChildWait& wait, ChildCancel& cancel, Process& process, const Clock& clock,
                           SteadyTime deadline) {
    bool killed = false;
    while (true) {
      {
        MutexLock lock(cancel.mutex_);
        if (!wait.ended && (killed || !cancel.cancelled_)) cancel.changed_.WaitFor(cancel.mutex_, kPoll);
        if (wait.ended) return wait.end;
        if (killed) continue;
        if (cancel.cancelled_) {
          wait.end.kind = ChildEnd::Kind::kCancelled;
        } else if (clock.SteadyNow() >= deadline) {
          wait.end.kind = ChildEnd::Kind::kTimedOut;
        }
        killed = wait.end.kind != ChildEnd::Kind::kExited;
      }
      // SIGKILL cannot be refused, so the exit comes; outside the lock, as the callback takes it.
      if (killed) process.Kill();
    }
  }
};

absl::StatusOr<ChildEnd> RunChild(ProcessLauncher& launcher, const Clock& clock, const ProcessSpec& spec,
                                  uint64_t wall_seconds, ChildCancel& cancel) {
  auto wait = std::make_shared<ChildWait>();
  const auto on_exit = [wait, &cancel](const ProcessExit& exit) { ChildWait::NoteExit(*wait, cancel, exit); };
  ASSIGN_OR_RETURN(const std::unique_ptr<Process> process, launcher.Start(spec, on_exit));
  const SteadyTime deadline = clock.SteadyNow() + std::chrono::seconds(wall_seconds);
  return ChildWait::AwaitEnd(*wait, cancel, *process, clock, deadline);
}

std::string StderrTail(FileStore& files, const std::string& path) {
  const auto file = files.OpenRead(path);
  if (!file.ok() || (*file)->size() == 0) return "";
  const uint64_t size = (*file)->size();
  const uint64_t start = size - std::min(size, kStderrTailBytes);
  const absl::StatusOr<std::string> tail = (*file)->Read(start, kStderrTailBytes);
  if (!tail.ok()) return "";
  std::string text(absl::StripAsciiWhitespace(*tail));
  // It goes into error messages and JSON: printable text only.
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c != '\n' && !absl::ascii_isprint(c); }, '?');
  return absl::StrCat(": ", text);
}

}  // namespace sm89
