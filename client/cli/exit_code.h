// What the program's exit status says. Documented in `sm89 --help` and client/README.md; scripts rely on it.
#pragma once

#include "absl/status/status.h"
#include "sm89/v1/job.pb.h"

namespace sm89::client {

enum ExitCode : int {
  kExitOk = 0,
  kExitJobFailed = 1,  // a job that was waited for failed or was cancelled
  kExitOutOfBand = 1,  // `baseline check`: compared, and something is outside the band
  kExitInvalid = 2,    // usage error, invalid input, or refused in the present state
  kExitNotFound = 3,
  kExitUnavailable = 4,    // server not reachable, overloaded, or no answer in time
  kExitIncomplete = 5,     // a limit ended the simulation: statistics so far
  kExitInternal = 6,       // a bug or an unexpected answer
  kExitInterrupted = 130,  // Ctrl-C
};

ExitCode ExitCodeOf(const absl::Status& status);

// Of a job in a terminal state.
ExitCode ExitCodeOf(const v1::Job& job);

// The worse of two outcomes when one call stands for several jobs: failed before incomplete before ok.
ExitCode Worse(ExitCode a, ExitCode b);

}  // namespace sm89::client
