#include "sim/tools/sim_input.h"

#include <ostream>

#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"
#include "sim/tools/mark_warnings.h"
#include "sim/tools/sim_command.h"
#include "sim/tools/sim_temp_file.h"

namespace sm89 {
namespace {

absl::Status CheckOverride(const std::string& text, SimInput* input) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return InputError(
        absl::StatusCode::kInvalidArgument,
        Fault{.field = "--set", .value = text, .expected = "NAME=VALUE", .message = "not an override"});
  }
  input->overrides.push_back({text.substr(0, equals), text.substr(equals + 1)});
  return absl::OkStatus();
}

}  // namespace

// Whole numbers only: the library's own conversion lets "-1" wrap around.
absl::StatusOr<uint64_t> ReadWholeNumber(const char* option, const std::string& text, uint64_t least,
                                         uint64_t most) {
  uint64_t value = 0;
  if (absl::SimpleAtoi(text, &value) && value >= least && value <= most) return value;
  return InputError(absl::StatusCode::kInvalidArgument,
                    Fault{.field = option,
                          .value = text,
                          .expected = absl::StrCat("a whole number from ", least, " to ", most),
                          .message = "not usable"});
}

SimInputFlags::SimInputFlags(CLI::App* app, SimInput* input) : input_(*input) {
  app->add_option("--config", input->config, "preset or configuration file (default RTX4090)")
      ->type_name("NAME|FILE");
  app->add_option("--trace", input->trace, "trace to simulate")->type_name("TRACE");
  AddProgramFlags(app, &input->program);
  app->add_option("--sass", input->sass,
                  "with --trace: cubin, or text of cuobjdump -sass or nvdisasm -hex, whose control bits and\n"
                  "operands its kernels get; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app->add_option("--set", sets_, "override a setting; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app->add_flag("--strict", input->config_options.strict, "settings without an effect are errors");
  app->add_flag("--foreign-arch", input->ingest.foreign_arch,
                "accept sm_70, 75, 80, 86 and 90 code through its SM89 counterparts; the result says so");
  app->add_flag("--allow-partial", input->ingest.allow_partial,
                "run traces that lack CTAs; the result says so");
  app->add_flag("--unknown-as-nop", input->ingest.unknown_as_nop,
                "treat unknown opcodes as NOP; the result says so");
  app->add_option("--kernels", kernels_, "kernels to run by position, as in 1,3-5 (default all)")
      ->type_name("LIST");
  app->add_option("--max-cycles", max_cycles_, "stop after so many GPU cycles")->type_name("N");
  app->add_option("--max-instructions", max_instructions_,
                  "with --cubin or --suite: warp instructions that a launch may execute")
      ->type_name("N");
}

absl::Status SimInputFlags::FinishConfig() {
  for (const std::string& text : sets_) RETURN_IF_ERROR(CheckOverride(text, &input_));
  return absl::OkStatus();
}

absl::Status SimInputFlags::Finish() {
  RETURN_IF_ERROR(FinishConfig());
  if (!kernels_.empty()) {
    ASSIGN_OR_RETURN(input_.kernels, ParseKernelSelection(kernels_));
  }
  if (!max_cycles_.empty()) {
    ASSIGN_OR_RETURN(input_.max_cycles, ReadWholeNumber("--max-cycles", max_cycles_, 1, ~uint64_t{0}));
  }
  if (!max_instructions_.empty()) {
    ASSIGN_OR_RETURN(input_.max_instructions,
                     ReadWholeNumber("--max-instructions", max_instructions_, 1, ~uint64_t{0}));
  }
  return absl::OkStatus();
}

absl::Status CheckInput(const SimInput& input) {
  const bool program = input.program.any();
  if (input.trace.empty() && !program) {
    return InputError(absl::StatusCode::kInvalidArgument,
                      Fault{.field = "--trace",
                            .expected = "a folder or file; or --cubin with --launch",
                            .message = "no trace given"});
  }
  if (!input.trace.empty() && program) {
    return InputError(absl::StatusCode::kInvalidArgument,
                      Fault{.field = "--trace",
                            .value = input.trace,
                            .expected = "a trace or machine code, not both",
                            .message = "two inputs"});
  }
  if (!input.sass.empty() && program) {
    return InputError(absl::StatusCode::kInvalidArgument,
                      Fault{.field = "--sass",
                            .value = input.sass.front(),
                            .expected = "--trace",
                            .message = "what is executed has its machine code"});
  }
  return absl::OkStatus();
}

namespace {

absl::StatusOr<std::unique_ptr<Simulator>> OpenProgram(const SimInput& input, SimulatorOptions run,
                                                       const OpenInputOptions& options,
                                                       const SimCommandIo& io,
                                                       std::shared_ptr<Emulation>* emulation) {
  ASSIGN_OR_RETURN(const Program program, LoadFlags(input.program));
  EmulationOptions emulation_options;
  emulation_options.keep_trace = options.keep_trace;
  emulation_options.emu.max_warp_instructions = input.max_instructions;
  emulation_options.cancel = options.insist_to_cancel ? io.insisted : io.interrupted;
  ASSIGN_OR_RETURN(*emulation, Emulation::Create(program, emulation_options));
  run.emulation = *emulation;
  return Simulator::Create(std::move(run));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Simulator>> OpenInput(const SimInput& input, SimulatorOptions run,
                                                     const OpenInputOptions& options, const SimCommandIo& io,
                                                     std::shared_ptr<Emulation>* emulation) {
  run.kernels = input.kernels;
  for (const std::string& path : input.sass) run.sass_files.push_back({path, path});
  run.max_cycles = input.max_cycles;
  if (input.program.any()) return OpenProgram(input, std::move(run), options, io, emulation);
  if (IsCompactTrace(input.trace) || IsProgramFile(input.trace)) {
    run.trace_path = input.trace;
    ASSIGN_OR_RETURN(std::unique_ptr<Simulator> simulator, Simulator::Create(std::move(run)));
    WarnOfMarks(options.program_name, simulator->Report().marks, input.ingest, io.err);
    return simulator;
  }
  ASSIGN_OR_RETURN(TempFile compact, TempFile::Create(std::string(options.program_name)));
  IngestOptions ingest = input.ingest;
  ingest.cancel = io.interrupted;
  ingest.progress = options.reading;
  ASSIGN_OR_RETURN(const IngestResult ingested, IngestTrace(input.trace, compact.path(), ingest));
  run.trace_path = compact.path();
  // The simulator keeps the file mapped: its name may go as soon as it is open.
  return Simulator::Create(std::move(run));
}

void PrintConfigWarnings(std::string_view program_name, const Config& config, std::ostream& err) {
  for (const ConfigWarning& w : config.warnings) {
    err << program_name
        << ": warning: " << FormatFault(Fault{.file = w.file, .line = w.line, .message = w.message}) << "\n";
  }
}

}  // namespace sm89
