// Runs a child to its end, or to the end of our patience: the way untrusted bytes are read.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "server/os/clock.h"
#include "server/os/file_store.h"
#include "server/os/mutex.h"
#include "server/os/process.h"

namespace sm89 {

// Stops a run from another thread.
class ChildCancel {
 public:
  void Cancel();
  bool cancelled();

 private:
  friend struct ChildWait;
  Mutex mutex_;
  CondVar changed_;
  bool cancelled_ SM89_GUARDED_BY(mutex_) = false;
};

struct ChildEnd {
  enum class Kind : uint8_t { kExited, kTimedOut, kCancelled };  // the last two: it was killed
  Kind kind = Kind::kExited;
  ProcessExit exit;
};

// Blocks until the child has ended; `wall_seconds` of `clock` after its start it is killed. An error: it
// could not be started.
absl::StatusOr<ChildEnd> RunChild(ProcessLauncher& launcher, const Clock& clock, const ProcessSpec& spec,
                                  uint64_t wall_seconds, ChildCancel& cancel);

// ": " and the last words of a file that a child wrote its errors to, printable; empty when it wrote none.
std::string StderrTail(FileStore& files, const std::string& path);

}  // namespace sm89
