#include <memory>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/replay/emulation.h"
#include "sim/tools/accel_sim_writer.h"
#include "sim/tools/cubin_run.h"
#include "sim/tools/exit_codes.h"
#include "sim/tools/findings_text.h"
#include "sim/tools/sim_errors.h"

namespace sm89 {
namespace {

constexpr char kProgram[] = "sm89-cubin";

absl::Status Store(const CubinTraceOptions& options, LiveSource* source, std::ostream& err) {
  if (options.accel_sim) {
    RETURN_IF_ERROR(WriteAccelSimFolder(*source, options.output));
    err << kProgram << ": " << options.output << ": " << source->warp_instructions()
        << " warp instructions as Accel-Sim text\n";
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const WrittenTrace written, source->FinishKept());
  err << kProgram << ": " << options.output << ": " << source->warp_instructions() << " warp instructions, "
      << written.file_bytes << " bytes, digest " << written.digest << "\n";
  return absl::OkStatus();
}

absl::Status Trace(const CubinTraceOptions& options, const SimCommandIo& io) {
  ASSIGN_OR_RETURN(const Program program, LoadFlags(options.program));
  EmulationOptions emulation_options;
  emulation_options.emu.max_warp_instructions = options.max_instructions;
  emulation_options.cancel = io.interrupted;
  if (!options.accel_sim) emulation_options.keep_trace = options.output;
  ASSIGN_OR_RETURN(const std::unique_ptr<Emulation> emulation, Emulation::Create(program, emulation_options));
  const absl::Status status = Store(options, emulation->source().get(), io.err);
  for (const LaunchOutcome& outcome : emulation->outcomes()) {
    PrintFindings(kProgram, outcome.result.id, outcome.findings, outcome.num_findings, status, io.err);
  }
  return status;
}

}  // namespace

int TraceCubin(const CubinTraceOptions& options, const SimCommandIo& io) {
  const absl::Status status = Trace(options, io);
  if (!status.ok()) PrintError(kProgram, status, io.err);
  return ExitCodeOf(status);
}

}  // namespace sm89
