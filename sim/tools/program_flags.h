// The options that name machine code and what to launch of it: shared by sm89-cubin and sm89-sim.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/replay/program.h"

namespace CLI {
class App;
}

namespace sm89 {

struct ProgramFlags {
  std::string cubin, launch;
  std::string suite, cubin_folder;
  std::string arch = "sm_89";
  std::vector<std::string> cases;

  bool any() const { return !cubin.empty() || !launch.empty() || !suite.empty() || !cubin_folder.empty(); }
};

void AddProgramFlags(CLI::App* app, ProgramFlags* flags);

// "sm_90", "90" -> 90.
absl::StatusOr<uint32_t> ParseArch(const std::string& text);

// Reads what the flags name; PTX is compiled.
absl::StatusOr<Program> LoadFlags(const ProgramFlags& flags);

}  // namespace sm89
