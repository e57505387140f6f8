// Assertions for bugs of ours (never for bad input). They stay on in release builds: a failed one ends
// this process with its text on stderr, which the daemon reports as INTERNAL on the job.
#pragma once

namespace sm89 {

// Writes "sm89 assertion failed: <expr> at <file>:<line>: <why>" to stderr and aborts.
[[noreturn]] void AssertionFailed(const char* expr, const char* file, int line, const char* why);

}  // namespace sm89

#define SM89_ASSERT(cond, why)                                 \
  do {                                                         \
    if (!(cond)) [[unlikely]] {                                \
      ::sm89::AssertionFailed(#cond, __FILE__, __LINE__, why); \
    }                                                          \
  } while (false)
