// sm89-cubin without its main: machine code shown, explained, executed.
#pragma once

#include <string>
#include <vector>

#include "sim/tools/sim_command.h"

namespace sm89 {

// Runs the whole command; the value is the exit code (exit_codes.h).
int CubinMain(const std::vector<std::string>& args, const SimCommandIo& io);

}  // namespace sm89
