// `sm89 baseline record|check`: cycle counts that a lab keeps, and whether today's are within a band of them.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/config_source.h"
#include "client/cli/context.h"
#include "client/cli/format.h"
#include "client/cli/report_jobs.h"
#include "client/cli/upload_job.h"
#include "client/macros.h"
#include "sim/baseline/baseline.h"

namespace sm89::client {
namespace {

// How the simulations run; no influence on their results.
struct RunFlags {
  uint32_t threads = 0;
  bool no_cache = false;
};

struct RecordOptions {
  std::string file;
  std::vector<std::string> traces;
  std::vector<std::string> sass;
  ProgramFlags program;
  std::vector<std::string> configs;
  std::vector<std::string> sets;
  std::string kernels;
  UploadFlags upload;
  double band_percent = baseline::kDefaultBandPercent;
  RunFlags run;
};

struct CheckOptions {
  std::string file;
  std::optional<double> band_percent;
  bool allow_changes = false;
  RunFlags run;
};

void SetConfig(const std::string& text, baseline::Question* question) {
  constexpr char kCollection[] = "configs/";
  if (IsConfigFile(text)) {
    question->config_file = text;
  } else {
    // Without the collection sm89-sim reads it too.
    question->config = text.starts_with(kCollection) ? text.substr(sizeof(kCollection) - 1) : text;
  }
}

void SetProgram(const ProgramFlags& program, baseline::Question* question) {
  question->cubin = program.cubin;
  question->launch = program.launch;
  question->suite = program.suite;
  question->cubin_folder = program.cubin_folder;
  question->arch = program.arch;
  question->cases = program.cases;
}

// Each input with each configuration.
absl::StatusOr<std::vector<baseline::Question>> Questions(Context& context, const RecordOptions& options) {
  baseline::Question common;
  CLIENT_ASSIGN_OR_RETURN(const std::vector<v1::Override> sets, ParseOverrides("--set", options.sets));
  for (const v1::Override& one : sets) common.settings.emplace_back(one.name(), one.value());
  common.kernels = options.kernels;
  common.foreign_arch = options.upload.foreign_arch;
  common.allow_partial = options.upload.allow_partial;
  common.unknown_as_nop = options.upload.unknown_as_nop;
  CLIENT_RETURN_IF_ERROR(CheckSass(options.sass, options.program));
  std::vector<baseline::Question> inputs;
  for (const std::string& trace : options.traces) {
    baseline::Question& question = inputs.emplace_back(common);
    question.trace = trace;
    question.sass = options.sass;
    if (IsLocalPath(trace)) continue;
    CLIENT_ASSIGN_OR_RETURN(question.trace, FullName("traces", trace));
  }
  if (options.program.any()) SetProgram(options.program, &inputs.emplace_back(common));
  if (inputs.empty()) {
    return absl::InvalidArgumentError(
        "nothing to record: give --trace, or --cubin with --launch (or --suite with --cubin-dir)");
  }
  CLIENT_ASSIGN_OR_RETURN(const Settings* settings, context.GetSettings());
  std::vector<std::string> configs = options.configs;
  if (configs.empty()) configs.push_back(settings->config);
  std::vector<baseline::Question> questions;
  for (const baseline::Question& input : inputs) {
    for (const std::string& config : configs) SetConfig(config, &questions.emplace_back(input));
  }
  if (questions.size() > baseline::kRunsMax) {
    return absl::ResourceExhaustedError(
        absl::StrCat("more than ", baseline::kRunsMax, " runs in one baseline"));
  }
  return questions;
}

absl::Status CheckThere(const std::string& what, const std::string& path) {
  std::error_code ignored;
  if (path.empty() || std::filesystem::exists(path, ignored)) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("the ", what, " ", path, " is missing"));
}

absl::Status CheckFiles(const baseline::Question& q) {
  if (IsLocalPath(q.trace)) CLIENT_RETURN_IF_ERROR(CheckThere("trace", q.trace));
  CLIENT_RETURN_IF_ERROR(CheckThere("machine code", q.cubin));
  CLIENT_RETURN_IF_ERROR(CheckThere("launch file", q.launch));
  CLIENT_RETURN_IF_ERROR(CheckThere("manifest", q.suite));
  for (const std::string& path : q.sass) CLIENT_RETURN_IF_ERROR(CheckThere("--sass file", path));
  CLIENT_RETURN_IF_ERROR(CheckThere("folder of machine code", q.cubin_folder));
  return CheckThere("configuration", q.config_file);
}

// Brings what a question names to the server.
absl::StatusOr<v1::JobSpec> SpecFor(Context& context, const baseline::Question& q, const RunFlags& run) {
  CLIENT_RETURN_IF_ERROR(CheckFiles(q));
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  v1::JobSpec spec;
  UploadFlags upload;
  upload.foreign_arch = q.foreign_arch;
  upload.allow_partial = q.allow_partial;
  upload.unknown_as_nop = q.unknown_as_nop;
  if (!q.trace.empty()) {
    CLIENT_ASSIGN_OR_RETURN(*spec.mutable_trace(), TraceNameFor(context, q.trace, upload));
    CLIENT_RETURN_IF_ERROR(AddSass(context, q.sass, &spec));
  } else {
    ProgramFlags program{.cubin = q.cubin,
                         .launch = q.launch,
                         .suite = q.suite,
                         .cubin_folder = q.cubin_folder,
                         .arch = q.arch,
                         .cases = q.cases};
    CLIENT_ASSIGN_OR_RETURN(const UploadOutcome sent, UploadProgram(context, program, {}));
    spec.set_trace(sent.trace.name());
  }
  // A file's bare name could be a configuration's.
  const bool bare = q.config_file.find('/') == std::string::npos;
  const std::string file = absl::StrCat(bare ? "./" : "", q.config_file);
  CLIENT_ASSIGN_OR_RETURN(*spec.mutable_config(), ConfigNameFor(*client, q.config.empty() ? file : q.config));
  for (const auto& [name, value] : q.settings) {
    v1::Override& one = *spec.add_overrides();
    one.set_name(name);
    one.set_value(value);
  }
  spec.set_kernels(q.kernels);
  spec.set_threads(run.threads);
  spec.set_no_result_cache(run.no_cache);
  return spec;
}

struct Answer {
  std::string job;
  absl::Status status;
  baseline::Measurement measured;
};

bool ConcernsAll(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsCancelled(status) || absl::IsDeadlineExceeded(status);
}

// In the order of the questions; an error of one is in its place.
absl::StatusOr<std::vector<Answer>> Ask(Context& context, const std::vector<baseline::Question>& questions,
                                        const RunFlags& run) {
  std::vector<Answer> answers(questions.size());
  std::vector<v1::JobSpec> specs;
  std::vector<size_t> places;
  for (size_t i = 0; i < questions.size(); ++i) {
    absl::StatusOr<v1::JobSpec> spec = SpecFor(context, questions[i], run);
    answers[i].status = spec.status();
    if (ConcernsAll(spec.status())) return spec.status();
    if (!spec.ok()) continue;
    specs.push_back(*std::move(spec));
    places.push_back(i);
  }
  CLIENT_ASSIGN_OR_RETURN(const std::vector<ReportJob> jobs, RunForReports(context, specs));
  for (size_t k = 0; k < jobs.size(); ++k) {
    Answer& answer = answers[places[k]];
    answer.job = jobs[k].job.name();
    answer.status = jobs[k].status;
    if (!answer.status.ok()) continue;
    absl::StatusOr<baseline::Measurement> measured = baseline::FromReport(jobs[k].report);
    answer.status = measured.status();
    if (measured.ok()) answer.measured = *std::move(measured);
  }
  return answers;
}

absl::StatusOr<baseline::Baseline> Existing(const std::string& file) {
  absl::StatusOr<baseline::Baseline> found = baseline::ReadFile(file);
  if (absl::IsNotFound(found.status())) return baseline::Baseline();
  return found;
}

absl::StatusOr<ExitCode> RunRecord(Context& context, const RecordOptions& options) {
  CLIENT_ASSIGN_OR_RETURN(baseline::Baseline kept, Existing(options.file));
  CLIENT_ASSIGN_OR_RETURN(const std::vector<baseline::Question> questions, Questions(context, options));
  CLIENT_ASSIGN_OR_RETURN(std::vector<Answer> answers, Ask(context, questions, options.run));
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (size_t i = 0; i < questions.size(); ++i) {
    Answer& answer = answers[i];
    const std::string label = baseline::LabelOf(questions[i]);
    if (!answer.status.ok()) {
      return absl::Status(
          answer.status.code(),
          absl::StrCat("run '", label, "' cannot be recorded: ", std::string(answer.status.message())));
    }
    runs.push_back({{"label", label},
                    {"job", answer.job},
                    {"kernels", answer.measured.kernels.size()},
                    {"total_cycles", answer.measured.total_cycles}});
    CLIENT_RETURN_IF_ERROR(
        baseline::Put({questions[i], options.band_percent, std::move(answer.measured)}, &kept));
  }
  CLIENT_RETURN_IF_ERROR(baseline::WriteFile(kept, options.file));
  if (context.flags.json) {
    context.PrintJson({{"file", options.file}, {"runs", runs}});
    return kExitOk;
  }
  for (const auto& run : runs) {
    context.terminal().out() << Printable(run["label"]) << ": " << run["kernels"]
                             << (run["kernels"] == 1 ? " kernel, " : " kernels, ") << run["total_cycles"]
                             << " cycles\n";
  }
  if (context.talks()) context.terminal().err() << "recorded in " << options.file << '\n';
  return kExitOk;
}

absl::StatusOr<ExitCode> RunCheck(Context& context, const CheckOptions& options) {
  CLIENT_ASSIGN_OR_RETURN(const baseline::Baseline kept, baseline::ReadFile(options.file));
  std::vector<baseline::Question> questions;
  for (const baseline::RecordedRun& run : kept.runs) questions.push_back(run.question);
  CLIENT_ASSIGN_OR_RETURN(const std::vector<Answer> answers, Ask(context, questions, options.run));
  const baseline::CompareOptions compare{.band_percent = options.band_percent,
                                         .allow_changes = options.allow_changes};
  std::vector<baseline::Comparison> comparisons;
  for (size_t i = 0; i < answers.size(); ++i) {
    comparisons.push_back(answers[i].status.ok()
                              ? baseline::Compare(kept.runs[i], answers[i].measured, compare, options.file)
                              : baseline::Failed(kept.runs[i], answers[i].status));
  }
  if (context.flags.json) {
    context.PrintJson(nlohmann::ordered_json::parse(baseline::ToJson(comparisons)));
  } else {
    context.terminal().out() << baseline::ToTable(comparisons);
  }
  const int code = baseline::ExitCodeOf(comparisons);
  return code == 0 ? kExitOk : code == 1 ? kExitOutOfBand : kExitInvalid;
}

void AddRunOptions(CLI::App& command, RunFlags& run) {
  command.add_option("--threads", run.threads,
                     "Simulator threads of each job; any number gives the same result");
  command.add_flag("--no-cache", run.no_cache, "Simulate even if the same question was answered before");
}

void AddRecord(CLI::App& parent, Context& context) {
  auto options = std::make_shared<RecordOptions>();
  CLI::App* command = parent.add_subcommand(
      "record", "Simulate, and add the cycle counts to FILE; a run of the same question is replaced");
  command->add_option("FILE", options->file, "The baseline, made if it is not there")->required();
  command
      ->add_option("--trace", options->traces,
                   "Name of a trace or program on the server, or a PATH; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--sass", options->sass,
                   "FILE of machine code whose control bits and operands the traces' kernels get; may be "
                   "repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  AddProgramOptions(*command, options->program);
  command
      ->add_option("--config", options->configs,
                   "Name of a configuration, or a FILE; may be repeated (default: the settings file's, else "
                   "RTX4090)")
      ->allow_extra_args(false);
  command
      ->add_option("--set", options->sets,
                   "A setting on top of the configuration, NAME=VALUE; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--kernels", options->kernels, "Only these kernels of the trace, e.g. 1,3-5");
  command->add_option("--band", options->band_percent, "Allowed difference of each cycle count in %")
      ->check(CLI::Range(baseline::kBandPercentMin, baseline::kBandPercentMax))
      ->check(NotANumber)
      ->type_name("PERCENT")
      ->capture_default_str();
  AddIngestOptions(*command, options->upload);
  AddRunOptions(*command, options->run);
  command->callback(
      [&context, options] { context.action = [&context, options] { return RunRecord(context, *options); }; });
}

void AddCheck(CLI::App& parent, Context& context) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = parent.add_subcommand("check", "Simulate all runs of FILE again and compare");
  command->add_option("FILE", options->file, "The baseline")->required();
  command->add_option("--band", options->band_percent, "Allowed difference in % instead of the recorded one")
      ->check(CLI::Range(baseline::kBandPercentMin, baseline::kBandPercentMax))
      ->check(NotANumber)
      ->type_name("PERCENT");
  command->add_flag("--allow-changes", options->allow_changes,
                    "Compare although a configuration or an input is another than the recorded one");
  AddRunOptions(*command, options->run);
  command->footer("Exit codes: 0 all in band, 1 something is outside, 2 something could not be compared.");
  command->callback(
      [&context, options] { context.action = [&context, options] { return RunCheck(context, *options); }; });
}

}  // namespace

void AddBaselineCommand(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("baseline", "Keep cycle counts in a file and check against them (CI)");
  command->require_subcommand(1);
  AddRecord(*command, context);
  AddCheck(*command, context);
  command->footer(
      "Examples:\n"
      "  sm89 baseline record baseline.json --trace bfs.tar.xz --config RTX4090\n"
      "  sm89 baseline check baseline.json          exit code 1 when a cycle count is out of band");
}

}  // namespace sm89::client
