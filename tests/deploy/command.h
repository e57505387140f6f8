// Runs outside programs (promtool, python3, systemd-analyze) from a test.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace sm89::testing {

struct CommandResult {
  int exit_code = -1;  // -1: could not run, or ended by a signal
  std::string output;  // stdout and stderr
};

// `command` is a shell line made by the test itself.
inline CommandResult RunCommand(const std::string& command) {
  CommandResult result;
  FILE* pipe = popen(("{ " + command + "; } 2>&1").c_str(), "r");
  if (pipe == nullptr) return result;
  std::array<char, 4096> buffer;
  for (size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    result.output.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  return result;
}

inline bool HasProgram(const std::string& name) { return RunCommand("command -v " + name).exit_code == 0; }

}  // namespace sm89::testing
