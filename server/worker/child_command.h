// What the worker's commands that read untrusted bytes for the daemon have in common.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace sm89 {

// Exit codes, known to the daemon.
inline constexpr int kChildExitOk = 0;
inline constexpr int kChildExitRefused = 1;      // the result file says why
inline constexpr int kChildExitUsage = 2;        // or a file cannot be written
inline constexpr int kChildExitOutOfMemory = 4;  // nothing can be unwound then

// First of all: ends with the parent, gains no privileges, ends at once when memory is gone.
void BecomeChildCommand();

// Writes a result file; false after a line on stderr when that fails.
bool WriteResult(const std::string& path, const std::string& text);

}  // namespace sm89
