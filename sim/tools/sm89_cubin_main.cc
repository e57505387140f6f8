// sm89-cubin: shows, explains and executes GPU machine code.
#include <unistd.h>

#include <exception>
#include <iostream>

#include "sim/tools/cubin_command.h"
#include "sim/tools/exit_codes.h"
#include "sim/tools/sim_interrupt.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const sm89::SimCommandIo io{.out = std::cout,
                              .err = std::cerr,
                              .err_is_terminal = isatty(STDERR_FILENO) == 1,
                              .interrupted = sm89::InstallInterruptFlag()};
  try {
    return sm89::CubinMain(std::vector<std::string>(argv + 1, argv + argc), io);
  } catch (const std::exception& error) {  // memory that ran out, in practice
    std::cerr << "sm89-cubin: internal error: " << error.what() << "\n";
    return sm89::kExitInternal;
  }
}
