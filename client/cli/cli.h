// The command line as a function, so that tests run it in their own process.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "client/cli/terminal.h"

namespace sm89::client {

// `args` without the program's name. Answers the exit code (exit_code.h). `stop`: the user's interrupt.
int RunCli(const std::vector<std::string>& args, Terminal& terminal, const Environment& environment,
           std::stop_token stop);

}  // namespace sm89::client
