#include "sim/tools/sim_baseline.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/baseline/baseline.h"
#include "sim/tools/exit_codes.h"

namespace sm89 {
namespace {

std::string SelectionText(const KernelSelection& kernels) {
  std::string text;
  for (const auto& [first, last] : kernels.ranges) {
    absl::StrAppend(&text, text.empty() ? "" : ",", first);
    if (last != first) absl::StrAppend(&text, "-", last);
  }
  return text;
}

baseline::Question QuestionOf(const SimCommandOptions& options) {
  baseline::Question question{.trace = options.trace,
                              .cubin = options.program.cubin,
                              .launch = options.program.launch,
                              .suite = options.program.suite,
                              .cubin_folder = options.program.cubin_folder,
                              .arch = options.program.any() ? options.program.arch : "",
                              .cases = options.program.cases,
                              .sass = options.sass,
                              .foreign_arch = options.ingest.foreign_arch,
                              .allow_partial = options.ingest.allow_partial,
                              .unknown_as_nop = options.ingest.unknown_as_nop,
                              .kernels = SelectionText(options.kernels)};
  // "traces/x" is a folder here; a baseline takes it for a name on a server.
  if (question.trace.starts_with("traces/")) question.trace = absl::StrCat("./", question.trace);
  const std::vector<PresetInfo> presets = Presets();
  const bool preset = std::any_of(presets.begin(), presets.end(),
                                  [&](const PresetInfo& p) { return p.name == options.config; });
  (preset ? question.config : question.config_file) = options.config;
  for (const NamedOverride& one : options.overrides) question.settings.emplace_back(one.name, one.value);
  return question;
}

absl::StatusOr<SimCommandOptions> OptionsFor(const baseline::Question& question,
                                             const SimCommandOptions& command) {
  if (question.trace.starts_with("traces/")) {
    return absl::FailedPreconditionError(
        absl::StrCat(question.trace, " is a trace on a server: check it with 'sm89 baseline check'"));
  }
  SimCommandOptions options;
  options.threads = command.threads;
  options.progress = command.progress;
  options.trace = question.trace;
  options.program = {.cubin = question.cubin,
                     .launch = question.launch,
                     .suite = question.suite,
                     .cubin_folder = question.cubin_folder,
                     .arch = question.arch,
                     .cases = question.cases};
  options.sass = question.sass;
  options.ingest.foreign_arch = question.foreign_arch;
  options.ingest.allow_partial = question.allow_partial;
  options.ingest.unknown_as_nop = question.unknown_as_nop;
  options.config = question.config.empty() ? question.config_file : question.config;
  for (const auto& [name, value] : question.settings) options.overrides.push_back({name, value});
  if (!question.kernels.empty()) {
    ASSIGN_OR_RETURN(options.kernels, ParseKernelSelection(question.kernels));
  }
  return options;
}

absl::StatusOr<baseline::Measurement> Repeat(const baseline::Question& question,
                                             const SimCommandOptions& command, const SimCommandIo& io) {
  ASSIGN_OR_RETURN(const SimCommandOptions options, OptionsFor(question, command));
  std::error_code ignored;
  if (!options.trace.empty() && !std::filesystem::exists(options.trace, ignored)) {
    return InputError(absl::StatusCode::kNotFound,
                      Fault{.file = options.trace, .message = "the trace is missing"});
  }
  ASSIGN_OR_RETURN(const std::string report, SimulateForReport(options, io));
  return baseline::FromReport(report);
}

}  // namespace

absl::Status CheckRecordable(const std::string& file) {
  const absl::Status kept = baseline::ReadFile(file).status();
  if (!kept.ok() && !absl::IsNotFound(kept)) return kept;
  std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (folder.empty()) folder = ".";
  if (access(folder.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
  return InputError(absl::StatusCode::kInvalidArgument,
                    Fault{.field = "--baseline-record",
                          .value = file,
                          .expected = "a file in a folder that exists and may be written to",
                          .message = absl::StrCat("cannot be written: ", std::strerror(errno))});
}

absl::Status RecordBaseline(const SimCommandOptions& options, const std::string& report_json) {
  absl::StatusOr<baseline::Baseline> kept = baseline::ReadFile(options.baseline_record);
  if (absl::IsNotFound(kept.status())) kept = baseline::Baseline();
  RETURN_IF_ERROR(kept.status());
  ASSIGN_OR_RETURN(baseline::Measurement measured, baseline::FromReport(report_json));
  const double band = options.baseline_band_percent.value_or(baseline::kDefaultBandPercent);
  RETURN_IF_ERROR(baseline::Put({QuestionOf(options), band, std::move(measured)}, &*kept));
  return baseline::WriteFile(*kept, options.baseline_record);
}

absl::StatusOr<int> CheckBaseline(const SimCommandOptions& options, const SimCommandIo& io) {
  ASSIGN_OR_RETURN(const baseline::Baseline kept, baseline::ReadFile(options.baseline_check));
  const baseline::CompareOptions compare{.band_percent = options.baseline_band_percent,
                                         .allow_changes = options.baseline_allow_changes};
  std::vector<baseline::Comparison> comparisons;
  for (const baseline::RecordedRun& run : kept.runs) {
    if (io.interrupted != nullptr && io.interrupted->load()) return absl::CancelledError("interrupted");
    const absl::StatusOr<baseline::Measurement> now = Repeat(run.question, options, io);
    comparisons.push_back(now.ok() ? baseline::Compare(run, *now, compare, options.baseline_check)
                                   : baseline::Failed(run, now.status()));
  }
  io.out << baseline::ToTable(comparisons) << std::flush;
  const int code = baseline::ExitCodeOf(comparisons);
  return code == 0 ? kExitOk : code == 1 ? kExitOutOfBand : kExitBadInput;
}

}  // namespace sm89
