#include "server/worker/attempt_runner.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/log/log.h"
#include "server/worker/memory_use.h"
#include "server/worker/progress_meter.h"
#include "server/worker/result_messages.h"
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
  std::shared_ptr<const KeptTrace> kept;
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
  if (!assignment.keep_trace_dir().empty()) {
    ASSIGN_OR_RETURN(const Program program, ReadProgramFile(options.trace_path));
    run.kept = std::make_shared<const KeptTrace>(assignment.keep_trace_dir());
    EmulationOptions emulation = options.emulation_options;
    emulation.keep_trace = run.kept->path();
    ASSIGN_OR_RETURN(run.emulation, Emulation::Create(program, emulation));
    options.emulation = run.emulation;
  }
  ASSIGN_OR_RETURN(run.simulator, Simulator::Create(std::move(options)));
  return run;
}

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
  outcome.summary = ResultSummary(report, assignment.job());
  outcome.artifacts.push_back({"result.bin", TypedResultBytes(report, assignment.job()), nullptr});
  outcome.artifacts.push_back({"report.json", ReportToJson(report), nullptr});
  outcome.artifacts.push_back({"report.csv", ReportToCsv(report), nullptr});
  outcome.artifacts.push_back({"report.txt", ReportToAccelSimText(report), nullptr});
  outcome.artifacts.push_back({"report.table", ReportToTable(report), nullptr});
  outcome.artifacts.push_back({"timeline.json.gz", CompressedTimeline(report), nullptr});
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
    if (meter.Due()) sink(meter.Message(progress));
  }
  AttemptOutcome outcome = OutcomeOf(*run, assignment);
  outcome.final_progress = meter.Message(progress);
  return outcome;
}

}  // namespace sm89
