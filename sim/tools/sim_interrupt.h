// Ctrl-C and SIGTERM as a flag that long work polls.
#pragma once

#include <atomic>

namespace sm89 {

// Installs handlers that only set the flag; a second signal ends the process in the usual way.
const std::atomic<bool>* InstallInterruptFlag();
// Set by the second Ctrl-C behind KeepInterruptsForTerminal.
const std::atomic<bool>* InsistFlag();
// Ctrl-C is a way to take the terminal back: the first one sets the flag, the second one InsistFlag, a third
// one ends the process. SIGTERM ends it at once.
void KeepInterruptsForTerminal();
// Behind that: what was interrupted has stopped and the program goes on, as if there had been no Ctrl-C.
void RearmInterruptFlag();

}  // namespace sm89
