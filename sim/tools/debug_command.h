// sm89-debug without its main: a debugger of simulations, for a terminal and for scripts
// (sim/debug/DEBUG.md).
#pragma once

#include <string>
#include <vector>

#include "sim/tools/sim_command.h"

namespace sm89 {

// `args` without the program's name; the value is the exit code.
int DebugMain(const std::vector<std::string>& args, const SimCommandIo& io);

}  // namespace sm89
