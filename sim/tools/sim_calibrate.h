// --calibrate of sm89-sim: a profiler's CSV against this run, and the search for settings, without a server.
#pragma once

#include "absl/status/statusor.h"
#include "sim/tools/sim_command.h"

namespace sm89 {

// Simulates what `options` describe, then with other settings, one after another, and prints the tables. The
// value is the exit code.
absl::StatusOr<int> Calibrate(const SimCommandOptions& options, const SimCommandIo& io);

}  // namespace sm89
