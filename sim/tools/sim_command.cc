#include "sim/tools/sim_command.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <memory>
#include <ostream>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/report/run_report.h"
#include "sim/report/text.h"
#include "sim/timeline/timeline.h"
#include "sim/tools/exit_codes.h"
#include "sim/tools/findings_text.h"
#include "sim/tools/ser_trace_file.h"
#include "sim/tools/sim_baseline.h"
#include "sim/tools/sim_calibrate.h"
#include "sim/tools/sim_errors.h"
#include "sim/tools/sim_output.h"
#include "sim/tools/sim_progress.h"
#include "sim/tools/tensor_table.h"

namespace sm89 {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool Interrupted(const SimCommandIo& io) { return io.interrupted != nullptr && io.interrupted->load(); }

// The result files.
struct Outputs {
  std::unique_ptr<ResultOutput> json, csv, text, pc_csv, pc_json, kineto;
};

absl::Status CheckDifferent(const SimCommandOptions& options) {
  const std::pair<const char*, const std::string*> outputs[] = {
      {"--json", &options.json},           {"--csv", &options.csv},
      {"--text", &options.text},           {"--pc-csv", &options.pc_csv},
      {"--pc-json", &options.pc_json},     {"--kineto", &options.kineto},
      {"--ser-trace", &options.ser_trace}, {"--keep-trace", &options.keep_trace}};
  for (size_t i = 0; i < std::size(outputs); ++i) {
    for (size_t k = 0; k < i; ++k) {
      const auto& [option, path] = outputs[i];
      if (path->empty() || outputs[k].second->empty() || !SameFile(*outputs[k].second, *path)) continue;
      return InputError(absl::StatusCode::kInvalidArgument,
                        Fault{.field = option,
                              .value = *path,
                              .expected = absl::StrCat("another file than ", outputs[k].first),
                              .message = "two outputs cannot go to one file"});
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Outputs> OpenOutputs(const SimCommandOptions& options, std::ostream& out) {
  RETURN_IF_ERROR(CheckDifferent(options));
  Outputs outputs;
  if (!options.json.empty()) {
    ASSIGN_OR_RETURN(outputs.json, ResultOutput::Open(options.json, out));
  }
  if (!options.csv.empty()) {
    ASSIGN_OR_RETURN(outputs.csv, ResultOutput::Open(options.csv, out));
  }
  if (!options.text.empty()) {
    ASSIGN_OR_RETURN(outputs.text, ResultOutput::Open(options.text, out));
  }
  if (!options.pc_csv.empty()) {
    ASSIGN_OR_RETURN(outputs.pc_csv, ResultOutput::Open(options.pc_csv, out));
  }
  if (!options.pc_json.empty()) {
    ASSIGN_OR_RETURN(outputs.pc_json, ResultOutput::Open(options.pc_json, out));
  }
  if (!options.kineto.empty()) {
    ASSIGN_OR_RETURN(outputs.kineto, ResultOutput::Open(options.kineto, out));
  }
  return outputs;
}

// The simulator of what the options name; `emulation` of a program is kept to seal the trace that is written
// beside the run.
absl::StatusOr<std::unique_ptr<Simulator>> Prepare(const SimCommandOptions& options, Config config,
                                                   const SimCommandIo& io, ProgressPrinter* progress,
                                                   std::shared_ptr<Emulation>* emulation,
                                                   SerTraceFile* ser_trace) {
  SimulatorOptions run;
  if (ser_trace != nullptr) {
    run.ser_sink = [ser_trace](std::span<const SerRecord> records) { ser_trace->Append(records); };
  }
  run.config = std::move(config);
  run.threads = options.threads;
  run.profile = options.profile;
  OpenInputOptions open;
  open.program_name = "sm89-sim";
  open.keep_trace = options.keep_trace;
  if (options.progress) {
    open.reading = [progress](uint64_t done, uint64_t total) { progress->Reading(done, total); };
  }
  return OpenInput(options, std::move(run), open, io, emulation);
}

// Cycles for one step: so many that a step takes about this long, whatever the trace and the machine.
class StepSize {
 public:
  uint64_t cycles() const { return cycles_; }
  void Took(double seconds) {
    if (seconds < 0.02) cycles_ = std::min<uint64_t>(cycles_ * 2, kMost);
    if (seconds > 0.08) cycles_ = std::max<uint64_t>(cycles_ / 2, kLeast);
  }

 private:
  static constexpr uint64_t kLeast = 64;
  static constexpr uint64_t kMost = uint64_t{1} << 30;
  uint64_t cycles_ = 4096;
};

absl::Status Simulate(Simulator* simulator, const SimCommandOptions& options, const SimCommandIo& io,
                      ProgressPrinter* progress) {
  StepSize step;
  while (true) {
    if (Interrupted(io)) {
      simulator->Cancel();
      return absl::OkStatus();
    }
    const Clock::time_point start = Clock::now();
    ASSIGN_OR_RETURN(const SimProgress now, simulator->Advance(step.cycles()));
    step.Took(SecondsSince(start));
    if (options.progress) progress->Simulating(now);
    if (now.done) return absl::OkStatus();
  }
}

// `write` gives the file in pieces.
absl::Status WritePieces(const std::function<void(const PieceSink&)>& write, ResultOutput* output) {
  absl::Status status;
  write([&](std::string_view piece) {
    status = output->Append(piece);
    return status.ok();
  });
  return status.ok() ? output->Commit("") : status;
}

absl::Status WriteResults(const RunReport& report, const SimCommandOptions& options, double seconds,
                          const Outputs& outputs, std::ostream& out) {
  if (outputs.json != nullptr) RETURN_IF_ERROR(outputs.json->Commit(ReportToJson(report)));
  if (outputs.csv != nullptr) RETURN_IF_ERROR(outputs.csv->Commit(ReportToCsv(report)));
  if (outputs.text != nullptr) {
    std::string text = ReportToAccelSimText(report);
    if (options.host_time) {
      text =
          WithHostTime(std::move(text), report.totals.sm.thread_instructions, report.total_cycles, seconds);
    }
    RETURN_IF_ERROR(outputs.text->Commit(text));
  }
  if (outputs.pc_csv != nullptr) {
    RETURN_IF_ERROR(
        WritePieces([&](const PieceSink& sink) { WriteProfileCsv(report, sink); }, outputs.pc_csv.get()));
  }
  if (outputs.pc_json != nullptr) RETURN_IF_ERROR(outputs.pc_json->Commit(ProfileToJson(report)));
  if (outputs.kineto != nullptr) {
    const auto write = options.kineto.ends_with(".gz") ? WriteGzipTimeline : WriteTimeline;
    RETURN_IF_ERROR(WritePieces([&](const PieceSink& sink) { write(report, sink); }, outputs.kineto.get()));
  }
  const bool table = options.json != "-" && options.csv != "-" && options.text != "-" &&
                     options.pc_csv != "-" && options.pc_json != "-" && options.kineto != "-" &&
                     options.ser_trace != "-";
  if (table) out << ReportToTable(report) << std::flush;
  return absl::OkStatus();
}

void PrintAllFindings(const Emulation& emulation, const absl::Status& status, std::ostream& err) {
  for (const LaunchOutcome& outcome : emulation.outcomes()) {
    PrintFindings("sm89-sim", outcome.result.id, outcome.findings, outcome.num_findings, status, err);
  }
}

// Findings of the memory checker, and the kept trace sealed.
absl::Status FinishProgram(const SimCommandOptions& options, const Emulation& emulation,
                           const SimCommandIo& io) {
  absl::Status status;
  if (!options.keep_trace.empty() && Interrupted(io)) {
    io.err << "sm89-sim: interrupted: " << options.keep_trace << " is not kept\n";
  } else if (!options.keep_trace.empty()) {
    status = emulation.source()->FinishKept().status();
  }
  PrintAllFindings(emulation, status, io.err);
  return status;
}

// A run that came to its end.
struct Finished {
  RunReport report;
  double seconds = 0;  // of simulating
};

absl::StatusOr<Finished> RunToEnd(const SimCommandOptions& options, Config config, const SimCommandIo& io,
                                  ProgressPrinter* progress) {
  std::shared_ptr<Emulation> emulation;  // null for traces
  std::unique_ptr<SerTraceFile> ser_trace;
  if (!options.ser_trace.empty()) {
    ASSIGN_OR_RETURN(ser_trace, SerTraceFile::Create(options.ser_trace, io.out));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Simulator> simulator,
                   Prepare(options, std::move(config), io, progress, &emulation, ser_trace.get()));
  const Clock::time_point start = Clock::now();
  const absl::Status simulated = Simulate(simulator.get(), options, io, progress);
  progress->Finish();
  if (!simulated.ok() && emulation != nullptr) PrintAllFindings(*emulation, simulated, io.err);
  RETURN_IF_ERROR(simulated);
  Finished finished{simulator->Report(), SecondsSince(start)};
  if (emulation != nullptr) RETURN_IF_ERROR(FinishProgram(options, *emulation, io));
  if (ser_trace != nullptr) RETURN_IF_ERROR(ser_trace->Finish());
  return finished;
}

absl::StatusOr<int> Run(const SimCommandOptions& options, const SimCommandIo& io, ProgressPrinter* progress) {
  if (!options.baseline_check.empty()) return CheckBaseline(options, io);
  if (!options.calibrate_measured.empty()) return Calibrate(options, io);
  ASSIGN_OR_RETURN(Config config, LoadConfig(options.config, options.overrides, options.config_options));
  PrintConfigWarnings("sm89-sim", config, io.err);
  if (options.show != SimCommandOptions::Show::kNothing) {
    const bool settings = options.show == SimCommandOptions::Show::kConfig;
    io.out << (settings ? DumpConfig(config) : TensorModeTable(config.gpu)) << std::flush;
    return kExitOk;
  }
  if (!options.baseline_record.empty()) RETURN_IF_ERROR(CheckRecordable(options.baseline_record));
  ASSIGN_OR_RETURN(const Outputs outputs, OpenOutputs(options, io.out));
  ASSIGN_OR_RETURN(const Finished run, RunToEnd(options, std::move(config), io, progress));
  RETURN_IF_ERROR(WriteResults(run.report, options, run.seconds, outputs, io.out));
  const int code = ExitCodeOfRun(run.report);
  if (code != kExitOk) io.err << "sm89-sim: " << StatusText(run.report) << "\n";
  if (!options.baseline_record.empty()) RETURN_IF_ERROR(RecordBaseline(options, ReportToJson(run.report)));
  return code;
}

}  // namespace

int ExitCodeOfRun(const RunReport& report) {
  switch (report.status) {
    case RunStatus::kComplete:
      return IsComplete(report) ? kExitOk : kExitPartialTrace;
    case RunStatus::kCycleLimit:
      return kExitLimit;
    case RunStatus::kCancelled:
      return kExitCancelled;
    case RunStatus::kRunning:
    case RunStatus::kDeadlock:
      return kExitInternal;
  }
  return kExitInternal;
}

std::string WithHostTime(std::string text, uint64_t thread_instructions, uint64_t cycles, double seconds) {
  const auto whole = static_cast<uint64_t>(seconds);
  // Rates divide by whole seconds, at least one, as the scripts that read them expect.
  const uint64_t divisor = std::max<uint64_t>(whole, 1);
  const std::string lines = absl::StrFormat(
      "gpgpu_simulation_time = %u days, %u hrs, %u min, %u sec (%u sec)\n"
      "gpgpu_simulation_rate = %u (inst/sec)\ngpgpu_simulation_rate = %u (cycle/sec)\n",
      whole / 86'400, whole / 3600 % 24, whole / 60 % 60, whole % 60, whole, thread_instructions / divisor,
      cycles / divisor);
  const size_t end = text.rfind("GPGPU-Sim: *** simulation thread");
  text.insert(end == std::string::npos ? text.size() : end, lines);
  return text;
}

absl::StatusOr<std::string> SimulateForReport(const SimCommandOptions& options, const SimCommandIo& io) {
  ProgressPrinter progress(io.err, io.err_is_terminal);
  ASSIGN_OR_RETURN(Config config, LoadConfig(options.config, options.overrides, options.config_options));
  absl::StatusOr<Finished> run = RunToEnd(options, std::move(config), io, &progress);
  progress.Finish();
  RETURN_IF_ERROR(run.status());
  return ReportToJson(run->report);
}

int RunSimCommand(const SimCommandOptions& options, const SimCommandIo& io) {
  ProgressPrinter progress(io.err, io.err_is_terminal);
  const absl::StatusOr<int> code = Run(options, io, &progress);
  if (code.ok()) return *code;
  progress.Finish();
  PrintError("sm89-sim", code.status(), io.err);
  return ExitCodeOf(code.status());
}

int SimMain(const std::vector<std::string>& args, const SimCommandIo& io) {
  const ParsedCommandLine parsed = ParseSimCommandLine(args, io.out, io.err);
  return parsed.exit_code.has_value() ? *parsed.exit_code : RunSimCommand(parsed.options, io);
}

}  // namespace sm89
