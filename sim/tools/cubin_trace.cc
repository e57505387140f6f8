#include <memory>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/replay/emulation.h"
#include "sim/tools/accel_sim_writer.h"
#include "sim/tools/cubin_run.h"
#include "sim/tools/exit_codes.h"
#include "sim/tools/sim_errors.h"

namespace sm89 {
namespace {

absl::StatusOr<int> Trace(const CubinTraceOptions& options, const SimCommandIo& io) {
  ASSIGN_OR_RETURN(const Program program, LoadFlags(options.program));
  EmulationOptions emulation_options;
  emulation_options.emu.max_warp_instructions = options.max_instructions;
  if (!options.accel_sim) emulation_options.keep_trace = options.output;
  ASSIGN_OR_RETURN(const std::unique_ptr<Emulation> emulation, Emulation::Create(program, emulation_options));
  LiveSource& source = *emulation->source();
  if (options.accel_sim) {
    RETURN_IF_ERROR(WriteAccelSimFolder(source, options.output));
  } else {
    ASSIGN_OR_RETURN(const WrittenTrace written, source.FinishKept());
    io.err << "sm89-cubin: " << options.output << ": " << source.warp_instructions() << " warp instructions, "
           << written.file_bytes << " bytes, digest " << written.digest << "\n";
  }
  for (const LaunchOutcome& outcome : emulation->outcomes()) {
    for (const std::string& finding : outcome.findings) {
      io.err << "sm89-cubin: " << outcome.result.id << ": " << finding << "\n";
    }
  }
  return kExitOk;
}

}  // namespace

int TraceCubin(const CubinTraceOptions& options, const SimCommandIo& io) {
  const absl::StatusOr<int> code = Trace(options, io);
  if (code.ok()) return *code;
  PrintError("sm89-cubin", code.status(), io.err);
  return ExitCodeOf(code.status());
}

}  // namespace sm89
