// Ctrl-C and SIGTERM as a flag that long work polls.
#pragma once

#include <atomic>

namespace sm89 {

// Installs handlers that only set the flag; a second signal ends the process in the usual way.
const std::atomic<bool>* InstallInterruptFlag();
// What was interrupted has stopped and the program goes on: the next signal sets the flag again.
void RearmInterruptFlag();

}  // namespace sm89
