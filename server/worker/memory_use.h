// What an attempt may take, and what it takes.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sm89 {

// Private memory in use (RssAnon of /proc/self/status): mapped trace files do not count.
uint64_t MemoryInUseBytes();

// From now on this process may have `bytes` of private memory more than it has now. Past it, and when the
// machine has no more, a line "sm89-worker: memory limit ..." goes to stderr and the process ends with
// WorkerExitCode::kMemoryLimit: an allocation that fails in the middle of the simulator or of a library
// cannot be recovered from reliably, and the daemon starts another worker at once.
absl::Status LimitMemory(uint64_t bytes);
// After the attempt.
void UnlimitMemory();

}  // namespace sm89
