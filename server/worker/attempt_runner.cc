#include "server/worker/attempt_runner.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/log/log.h"
#include "server/os/file_store.h"
#include "server/worker/memory_use.h"
#include "server/worker/progress_meter.h"
#include "server/worker/result_messages.h"
#include "server/worker/ser_trace_keeper.h"
#include "sim/api/simulator.h"
#include "sim/base/status_macros.h"
#include "sim/replay/emulation.h"
#include "sim/replay/program.h"
#include "sim/timeline/timeline.h"

namespace sm89 {
namespace {

// Host time of one step: short enough for cancel, long enough to cost nothing.
constexpr Duration kStepTarget = std::chrono::milliseconds(50);
constexpr uint64_t kFirstStepCycles = 1024;
constexpr uint64_t kStepCyclesMin = 64;
constexpr uint64_t kStepCyclesMax = uint64_t{1} << 24;

absl::StatusOr<Config> ConfigOf(const v1::Assignment& assignment) {
  std::vector<NamedOverride> overrides;
  for (const v1::Override& o : assignment.overrides()) overrides.push_back({o.name(), o.value()});
  absl::StatusOr<Config> config =
      assignment.config_text().empty()
          ? LoadConfig(assignment.config_name(), overrides, ConfigOptions{})
          : LoadConfigText(assignment.config_name(), assignment.config_text(), overrides, ConfigOptions{});
  RETURN_IF_ERROR(config.status());
  if (config->digest != assignment.config_digest()) {
    return absl::InternalError(absl::StrCat("the worker resolves the configuration to digest ",
                                            config->digest, ", the daemon did to ",
                                            assignment.config_digest()));
  }
  return config;
}

struct Prepared {
  std::unique_ptr<Simulator> simulator;
  // When the executed instructions are kept.
  std::shared_ptr<Emulation> emulation;
  std::shared_ptr<const AttemptFile> kept;
  std::unique_ptr<SerTraceKeeper> ser_trace;  // when the decisions of the reordering stage are
};

// `stop` ends the execution of a program between two of its CTAs, the silent rest of a kept one included.
absl::StatusOr<Prepared> Prepare(const v1::Assignment& assignment, const std::atomic<bool>& stop) {
  Prepared run;
  SimulatorOptions options;
  ASSIGN_OR_RETURN(options.config, ConfigOf(assignment));
  ASSIGN_OR_RETURN(options.kernels, ParseKernelSelection(assignment.kernels()));
  options.trace_path = assignment.trace_path();
  options.max_cycles = assignment.max_cycles();
  options.threads = assignment.threads();
  options.emulation_options.cancel = &stop;
  for (const v1::MachineCode& code : assignment.sass()) {
    options.sass_files.push_back({code.path(), code.display_name()});
  }
  options.profile = assignment.profile();
  if (assignment.ser_trace() != v1::SER_TRACE_UNSPECIFIED) {
    ASSIGN_OR_RETURN(run.ser_trace,
                     SerTraceKeeper::Create(PosixFileStore(), assignment.scratch_dir(),
                                            static_cast<SerTraceFormat>(assignment.ser_trace()),
                                            assignment.artifact_bytes_max()));
    options.ser_sink = [keeper = run.ser_trace.get()](std::span<const SerRecord> records) {
      keeper->Append(records);
    };
  }
  if (assignment.keep_trace()) {
    ASSIGN_OR_RETURN(const Program program, ReadProgramFile(options.trace_path));
    run.kept = std::make_shared<const AttemptFile>(assignment.scratch_dir(), ".sm89t");
    EmulationOptions emulation = options.emulation_options;
    emulation.keep_trace = run.kept->path();
    ASSIGN_OR_RETURN(run.emulation, Emulation::Create(program, emulation));
    options.emulation = run.emulation;
  }
  ASSIGN_OR_RETURN(run.simulator, Simulator::Create(std::move(options)));
  return run;
}

// The profile so far in some of the progress reports: in all of a kernel of usual size, seldomer the more
// instructions there are to read.
class ProfileReporter {
 public:
  ProfileReporter(const Simulator& simulator, bool wanted) : simulator_(simulator), wanted_(wanted) {}

  void Add(v1::Progress* message) {
    if (!wanted_ || ++reports_ < 1 + simulator_.ProfiledInstructions() / kInstructionsAReport) return;
    reports_ = 0;
    AddLiveProfile(simulator_.Waits(kRows), message);
  }

 private:
  static constexpr uint64_t kInstructionsAReport = 200'000;
  static constexpr size_t kRows = 64;

  const Simulator& simulator_;
  const bool wanted_;
  uint64_t reports_ = 0;
};

uint64_t NextStep(uint64_t step, Duration took) {
  if (took > kStepTarget) return std::max(step / 2, kStepCyclesMin);
  if (took < kStepTarget / 2) return std::min(step * 2, kStepCyclesMax);
  return step;
}

AttemptOutcome Ended(absl::Status status) {
  AttemptOutcome outcome;
  outcome.status = std::move(status);
  return outcome;
}

// Of what `sm89-sim --kineto FILE.gz` writes the very bytes.
std::string CompressedTimeline(const RunReport& report) {
  std::string bytes;
  WriteGzipTimeline(report, [&](std::string_view piece) {
    bytes += piece;
    return true;
  });
  return bytes;
}

// A daemon refuses what is larger, however often it is asked.
absl::Status CheckSizes(const std::vector<FinishedArtifact>& artifacts, uint64_t bytes_max) {
  for (const FinishedArtifact& artifact : artifacts) {
    if (artifact.bytes.size() <= bytes_max) continue;
    return absl::ResourceExhaustedError(absl::StrCat("the result file ", artifact.name, " has ",
                                                     artifact.bytes.size(), " bytes, at most ", bytes_max,
                                                     " are allowed (max_artifact_bytes)"));
  }
  return absl::OkStatus();
}

AttemptOutcome OutcomeOf(const Prepared& run, const v1::Assignment& assignment) {
  const RunReport report = run.simulator->Report();
  if (report.status == RunStatus::kDeadlock) {
    return Ended(absl::InternalError(
        absl::StrCat("the simulated GPU stopped making progress: ", ValidText(report.status_detail))));
  }
  if (report.status == RunStatus::kCancelled) return Ended(absl::CancelledError("stopped"));
  AttemptOutcome outcome;
  if (run.kept != nullptr) {
    const absl::Status sealed = run.emulation->source()->FinishKept().status();
    if (!sealed.ok()) return Ended(sealed);
    outcome.artifacts.push_back({"trace.sm89t", "", run.kept});
  }
  if (run.ser_trace != nullptr) {
    absl::StatusOr<FinishedArtifact> decisions = run.ser_trace->Finish();
    if (!decisions.ok()) return Ended(decisions.status());
    outcome.artifacts.push_back(*std::move(decisions));
  }
  outcome.summary = ResultSummary(report, assignment.job());
  outcome.artifacts.push_back({"result.bin", TypedResultBytes(report, assignment.job()), nullptr});
  outcome.artifacts.push_back({"report.json", ReportToJson(report), nullptr});
  outcome.artifacts.push_back({"report.csv", ReportToCsv(report), nullptr});
  outcome.artifacts.push_back({"report.txt", ReportToAccelSimText(report), nullptr});
  outcome.artifacts.push_back({"report.table", ReportToTable(report), nullptr});
  outcome.artifacts.push_back({"timeline.json.gz", CompressedTimeline(report), nullptr});
  if (assignment.profile()) {
    outcome.artifacts.push_back({"profile.json", ProfileToJson(report), nullptr});
    std::string csv;
    WriteProfileCsv(report, [&csv](std::string_view piece) {
      csv += piece;
      return true;
    });
    outcome.artifacts.push_back({"profile.csv", std::move(csv), nullptr});
  }
  const absl::Status sizes = CheckSizes(outcome.artifacts, assignment.artifact_bytes_max());
  if (!sizes.ok()) return Ended(sizes);
  return outcome;
}

}  // namespace

AttemptOutcome AttemptRunner::Run(const v1::Assignment& assignment, const std::atomic<bool>& stop,
                                  const ProgressSink& sink) {
  if (assignment.trace_path().empty()) {
    return Ended(absl::UnimplementedError("this worker reads traces from a shared path only"));
  }
  const absl::StatusOr<Prepared> run = Prepare(assignment, stop);
  if (!run.ok()) return Ended(run.status());
  Simulator& simulator = *run->simulator;
  ProgressMeter meter(clock_, simulator.Report(),
                      std::chrono::milliseconds(assignment.progress_interval_ms()));
  ProfileReporter profile(simulator, assignment.profile());
  uint64_t step = kFirstStepCycles;
  SimProgress progress = simulator.Progress();
  fault_.At(progress.cycle);
  while (!progress.done) {
    if (stop) return Ended(absl::CancelledError("stopped"));
    const SteadyTime before = clock_.SteadyNow();
    absl::StatusOr<SimProgress> advanced = simulator.Advance(std::min(step, fault_.StepLimit()));
    if (!advanced.ok()) return Ended(advanced.status());
    progress = *std::move(advanced);
    fault_.At(progress.cycle);
    step = NextStep(step, clock_.SteadyNow() - before);
    if (run->ser_trace != nullptr && !run->ser_trace->status().ok()) return Ended(run->ser_trace->status());
    if (!meter.Due()) continue;
    v1::Progress message = meter.Message(progress);
    profile.Add(&message);
    sink(std::move(message));
  }
  AttemptOutcome outcome = OutcomeOf(*run, assignment);
  outcome.final_progress = meter.Message(progress);
  profile.Add(&*outcome.final_progress);
  return outcome;
}

}  // namespace sm89
