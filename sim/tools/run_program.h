// What the mains of the stand-alone programs share.
#pragma once

#include <string>
#include <vector>

#include "sim/tools/sim_command.h"

namespace sm89 {

// Runs `command` on the process's streams with Ctrl-C as a flag. Memory that runs out is a limit that was
// reached; any other exception is a bug.
int ProgramMain(const char* program, int (*command)(const std::vector<std::string>&, const SimCommandIo&),
                int argc, char** argv);

}  // namespace sm89
