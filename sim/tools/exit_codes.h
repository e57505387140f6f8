// Exit codes of the stand-alone programs. Scripts depend on them: never renumber.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace sm89 {

enum ExitCode : int {
  kExitOk = 0,            // complete and valid
  kExitOutOfBand = 1,     // --baseline-check: compared, and a cycle count is outside its band
  kExitBadInput = 2,      // wrong usage, unreadable or refused input, configuration error
  kExitLimit = 3,         // a limit was reached: cycles, or a bound on the input
  kExitInternal = 4,      // a fault of ours, or a simulation in which nothing moved any more
  kExitCancelled = 5,     // interrupted: once simulating, the results so far are written, marked as cancelled
  kExitPartialTrace = 6,  // ran to the end, but the trace itself was partial (--allow-partial)
  kExitDiffers = 7,       // sm89-cubin run --reference: ran, but results differ from the reference
};

// For --help.
inline constexpr std::string_view kExitCodeHelp =
    "Exit codes:\n"
    "  0  complete and valid\n"
    "  1  --baseline-check: a cycle count is outside its band\n"
    "  2  wrong usage, unreadable or refused input, configuration error\n"
    "  3  a limit was reached: --max-cycles (results so far are written, marked), or a bound on the input\n"
    "     (nothing is written)\n"
    "  4  internal error, or a simulation in which nothing moved any more\n"
    "  5  interrupted (SIGINT, SIGTERM); once the simulation has begun, results so far are written, marked\n"
    "  6  ran to the end of a partial trace (--allow-partial); results are written, marked\n";

// The code for a failed step.
int ExitCodeOf(const absl::Status& status);

}  // namespace sm89
