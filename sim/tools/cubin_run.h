// `sm89-cubin run` and `sm89-cubin trace`: executes launches and shows what came out, or stores what was
// executed.
#pragma once

#include <cstdint>
#include <string>

#include "sim/tools/program_flags.h"
#include "sim/tools/sim_command.h"

namespace sm89 {

struct CubinRunOptions {
  ProgramFlags program;
  std::string json;               // "-": standard output; empty: none
  std::string reference;          // recorded results to compare with
  std::string dump;               // folder for the raw bytes of output buffers; empty: none
  bool counts = false;            // executed counts an instruction, in the JSON
  uint64_t max_instructions = 0;  // warp instructions a launch; 0 = no limit
};
// The value is the exit code.
int RunCubin(const CubinRunOptions& options, const SimCommandIo& io);

struct CubinTraceOptions {
  ProgramFlags program;
  std::string output;
  bool accel_sim = false;  // a folder of Accel-Sim text instead of a compact trace
  uint64_t max_instructions = 0;
};
int TraceCubin(const CubinTraceOptions& options, const SimCommandIo& io);

}  // namespace sm89
