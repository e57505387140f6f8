// What is simulated and on which GPU: the options of sm89-sim and sm89-debug that say it, and the simulator
// made of them.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/api/simulator.h"
#include "sim/config/config.h"
#include "sim/ingest/ingest.h"
#include "sim/tools/program_flags.h"

namespace CLI {
class App;
}

namespace sm89 {

struct SimInput {
  std::string config = "RTX4090";
  std::string trace;     // this or `program`
  ProgramFlags program;  // machine code to execute
  std::vector<NamedOverride> overrides;
  ConfigOptions config_options;
  IngestOptions ingest;
  std::vector<std::string> sass;  // with `trace`: cubins and listings that have its kernels' encodings
  KernelSelection kernels;
  uint64_t max_cycles = 0;
  uint64_t max_instructions = 0;  // with `program`: warp instructions that a launch may execute; 0 = no limit
};

// The options as they are declared and, once parsed, converted into a SimInput.
class SimInputFlags {
 public:
  // Both must outlive this.
  SimInputFlags(CLI::App* app, SimInput* input);
  // --config and --set, for what needs no input.
  absl::Status FinishConfig();
  absl::Status Finish();

 private:
  SimInput& input_;
  std::vector<std::string> sets_;
  std::string kernels_, max_cycles_, max_instructions_;
};

// Exactly one of a trace and a program, and what belongs to the one that there is.
absl::Status CheckInput(const SimInput& input);

// A whole number, nothing else. INVALID_ARGUMENT naming the option.
absl::StatusOr<uint64_t> ReadWholeNumber(const char* option, const std::string& text, uint64_t least,
                                         uint64_t most);

struct SimCommandIo;

struct OpenInputOptions {
  std::string_view program_name;  // for messages and temporary files
  std::string keep_trace;         // with a program: compact trace of what was executed; empty = none
  std::function<void(uint64_t done, uint64_t total)> reading;  // progress with a text trace; may be null
  // An interrupt ends a program's execution for good; true: only one that insists does.
  bool insist_to_cancel = false;
};
// Opens the trace, unpacking it to a temporary file first unless it is compact already; or compiles the
// program, whose execution is the simulator's emulation(). `run` has what the input does not say.
absl::StatusOr<std::unique_ptr<Simulator>> OpenInput(const SimInput& input, SimulatorOptions run,
                                                     const OpenInputOptions& options, const SimCommandIo& io,
                                                     std::shared_ptr<Emulation>* emulation);

void PrintConfigWarnings(std::string_view program_name, const Config& config, std::ostream& err);

}  // namespace sm89
