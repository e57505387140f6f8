#include "server/worker/attempt_runner.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/log/log.h"
#include "server/os/file_store.h"
#include "server/worker/memory_use.h"
#include "server/worker/progress_meter.h"
#include "server/worker/result_messages.h"
#include "server/worker/ser_trace_keeper.h"
#include "sim/api/simulator.h"
#include "sim/base/fault.h"
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

// SerTraceFormat and v1::SerTrace agree.
SerTraceFormat FormatOf(v1::SerTrace format) { return static_cast<SerTraceFormat>(format); }
static_assert(v1::SER_TRACE_UNSPECIFIED == static_cast<int>(SerTraceFormat::kNone));
static_assert(v1::SER_TRACE_COMPACT == static_cast<int>(SerTraceFormat::kCompact));
static_assert(v1::SER_TRACE_CSV == static_cast<int>(SerTraceFormat::kCsv));
static_assert(v1::SER_TRACE_JSONL == static_cast<int>(SerTraceFormat::kJsonLines));

struct Prepared {
  std::unique_ptr<Simulator> simulator;
  // When the executed instructions are kept.
  std::shared_ptr<Emulation> emulation;
  std::shared_ptr<const AttemptFile> kept;
  std::unique_ptr<SerTraceKeeper> ser_trace;  // when the decisions of the reordering stage are
};

// The process's limit of a file is at least max_artifact_bytes. What is kept while it is executed meets it as
// the failure of a write, which does not say whose limit that is.
absl::Status NameTheLimit(const absl::Status& status, const std::string& kept, uint64_t bytes_max) {
  if (!absl::IsResourceExhausted(status)) return status;
  for (const Fault& fault : FaultsOf(status)) {
    if (fault.file != kept || !absl::StrContains(fault.message, std::strerror(EFBIG))) continue;
    return absl::ResourceExhaustedError(
        absl::StrCat("the trace of what was executed takes more than ", bytes_max,
                     " bytes (max_artifact_bytes): choose kernels or limit the cycles"));
  }
  return status;
}

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
  options.emulation_options.emu.max_warp_instructions = assignment.max_instructions();
  for (const v1::MachineCode& code : assignment.sass()) {
    options.sass_files.push_back({code.path(), code.display_name()});
  }
  options.profile = assignment.profile();
  if (assignment.ser_trace() != v1::SER_TRACE_UNSPECIFIED) {
    ASSIGN_OR_RETURN(run.ser_trace, SerTraceKeeper::Create(PosixFileStore(), assignment.scratch_dir(),
                                                           FormatOf(assignment.ser_trace()),
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
    auto created = Emulation::Create(program, emulation);
    RETURN_IF_ERROR(NameTheLimit(created.status(), run.kept->path(), assignment.artifact_bytes_max()));
    run.emulation = *std::move(created);
    options.emulation = run.emulation;
  }
  ASSIGN_OR_RETURN(run.simulator, Simulator::Create(std::move(options)));
  return run;
}

// The profile so far in some of the progress reports: in all of a kernel of usual size, seldomer the more
// counters there are to read (every host thread has its own).
class ProfileReporter {
 public:
  ProfileReporter(const Simulator& simulator, const v1::Assignment& assignment)
      : simulator_(simulator),
        wanted_(assignment.profile()),
        threads_(std::max<uint64_t>(assignment.threads(), 1)) {}

  void Add(v1::Progress* message) {
    if (!wanted_) return;
    const uint64_t counters = simulator_.ProfiledInstructions() * threads_;
    if (++reports_ < 1 + counters / kCountersAReport) return;
    reports_ = 0;
    AddLiveProfile(simulator_.Waits(kRows), message);
  }

 private:
  static constexpr uint64_t kCountersAReport = 200'000;  // instructions times threads
  static constexpr size_t kRows = 64;

  const Simulator& simulator_;
  const bool wanted_;
  const uint64_t threads_;
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
    uint64_t bytes = artifact.bytes.size();
    if (artifact.file != nullptr) {
      std::error_code unread;  // delivery says so
      const uintmax_t found = std::filesystem::file_size(artifact.file->path(), unread);
      bytes = unread ? 0 : found;
    }
    if (bytes <= bytes_max) continue;
    return absl::ResourceExhaustedError(absl::StrCat("the result file ", artifact.name, " has ", bytes,
                                                     " bytes, at most ", bytes_max,
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
    if (!sealed.ok()) return Ended(NameTheLimit(sealed, run.kept->path(), assignment.artifact_bytes_max()));
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
  ProfileReporter profile(simulator, assignment);
  uint64_t step = kFirstStepCycles;
  SimProgress progress = simulator.Progress();
  fault_.At(progress.cycle);
  while (!progress.done) {
    if (stop) return Ended(absl::CancelledError("stopped"));
    const SteadyTime before = clock_.SteadyNow();
    absl::StatusOr<SimProgress> advanced = simulator.Advance(std::min(step, fault_.StepLimit()));
    if (!advanced.ok()) {
      const std::string kept = run->kept != nullptr ? run->kept->path() : "";
      return Ended(NameTheLimit(advanced.status(), kept, assignment.artifact_bytes_max()));
    }
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
