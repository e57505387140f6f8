#include "sim/tools/run_program.h"

#include <unistd.h>

#include <exception>
#include <iostream>
#include <new>

#include "sim/tools/exit_codes.h"
#include "sim/tools/sim_interrupt.h"

namespace sm89 {

int ProgramMain(const char* program, int (*command)(const std::vector<std::string>&, const SimCommandIo&),
                int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const SimCommandIo io{.out = std::cout,
                        .err = std::cerr,
                        .err_is_terminal = isatty(STDERR_FILENO) == 1,
                        .interrupted = InstallInterruptFlag(),
                        .insisted = InsistFlag(),
                        .in = &std::cin,
                        .in_is_terminal = isatty(STDIN_FILENO) == 1};
  try {
    return command(std::vector<std::string>(argv + 1, argv + argc), io);
  } catch (const std::bad_alloc&) {
    std::cerr << program << ": error: out of memory\n";
    return kExitLimit;
  } catch (const std::exception& error) {
    std::cerr << program << ": internal error: " << error.what() << "\n";
    return kExitInternal;
  }
}

}  // namespace sm89
