// sm89-trace without its main: reads the command line, opens or ingests the trace, writes what it is.
#pragma once

#include <string>
#include <vector>

#include "sim/tools/sim_command.h"

namespace sm89 {

// Runs the whole command; the value is the exit code (exit_codes.h).
int TraceMain(const std::vector<std::string>& args, const SimCommandIo& io);

}  // namespace sm89
