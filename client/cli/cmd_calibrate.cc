// `sm89 calibrate`: measured kernels against a job's, which setting to change next, and the search that goes
// on.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/context.h"
#include "client/cli/format.h"
#include "client/cli/job_view.h"
#include "client/cli/report_jobs.h"
#include "client/macros.h"
#include "client/result_reader.h"
#include "client/watcher.h"
#include "sim/calibrate/render.h"
#include "sim/calibrate/search.h"

namespace sm89::client {
namespace {

// Jobs of one batch: more than this many wait in the program, not in the server's queue.
constexpr size_t kBatchMax = 100;

struct CalibrateOptions {
  std::string measured;
  std::string job;
  std::vector<std::string> parameters;
  calibrate::SearchOptions search;
  std::string output;
  uint32_t threads = 0;
};

// What a job asks with other settings on top.
class JobOracle : public calibrate::Oracle {
 public:
  JobOracle(Context& context, v1::JobSpec base) : context_(context), base_(std::move(base)) {}

  absl::StatusOr<std::vector<absl::StatusOr<calibrate::Simulated>>> Simulate(
      const std::vector<calibrate::Settings>& candidates) override {
    std::vector<absl::StatusOr<calibrate::Simulated>> answers;
    for (size_t begin = 0; begin < candidates.size(); begin += kBatchMax) {
      const size_t end = std::min(begin + kBatchMax, candidates.size());
      std::vector<v1::JobSpec> specs;
      for (size_t i = begin; i < end; ++i) specs.push_back(SpecWith(candidates[i]));
      CLIENT_ASSIGN_OR_RETURN(const std::vector<ReportJob> jobs, RunForReports(context_, specs));
      for (const ReportJob& job : jobs) {
        if (job.status.ok()) {
          answers.push_back(calibrate::FromReport(job.report));
        } else {
          answers.emplace_back(job.status);
        }
      }
    }
    return answers;
  }

 private:
  v1::JobSpec SpecWith(const calibrate::Settings& settings) const {
    v1::JobSpec spec = base_;
    for (const auto& [name, value] : settings) {
      v1::Override& one = *spec.add_overrides();
      one.set_name(name);
      one.set_value(value);
    }
    return spec;
  }

  Context& context_;
  v1::JobSpec base_;
};

// A job that has ended well; waits for one that has not ended yet.
absl::StatusOr<v1::Job> EndedJob(Context& context, const std::string& text) {
  CLIENT_ASSIGN_OR_RETURN(const std::string name, FullName("jobs", text));
  CLIENT_ASSIGN_OR_RETURN(const v1::Job job, FollowJob(context, name, {}));
  if (job.state() == v1::Job::SUCCEEDED && !job.incomplete()) return job;
  return absl::FailedPreconditionError(absl::StrCat(
      "job ", ShortName(name), " has no complete result: ", StateName(job.state()), " ", ReasonText(job)));
}

// The settings of the job's configuration, each with what the table says of it.
struct Facts {
  std::vector<calibrate::SettingFact> settings;
  std::map<std::string, std::string> name_of;  // aliases, with the leading '-'
  std::string config_id;
  bool preset = false;
};

absl::StatusOr<Facts> ReadFacts(Client& client, const v1::JobSpec& spec) {
  v1::GetConfigRequest request;
  request.set_name(spec.config().empty() ? "configs/RTX4090" : spec.config());
  *request.mutable_overrides() = spec.overrides();
  CLIENT_ASSIGN_OR_RETURN(const v1::Config config, client.GetConfig(request));
  CLIENT_ASSIGN_OR_RETURN(const v1::GetSchemaResponse schema, client.GetSchema({}));
  std::map<std::string, std::string> values;
  for (const v1::ResolvedSetting& setting : config.settings()) values[setting.name()] = setting.value();
  Facts facts{.config_id = ShortName(config.name()), .preset = config.preset()};
  for (const v1::SettingSchema& row : schema.settings()) {
    for (const std::string& alias : row.aliases()) facts.name_of[alias] = row.name();
    const auto value = values.find(row.name());
    if (value == values.end() || !row.has_effect()) continue;
    facts.settings.push_back({row.name(), row.unit(), row.range(), row.source(), value->second});
  }
  return facts;
}

std::string FullSettingName(const Facts& facts, const std::string& name) {
  const std::string dashed = name.starts_with('-') ? name : "-" + name;
  const auto found = facts.name_of.find(dashed);
  return found == facts.name_of.end() ? dashed : found->second;
}

absl::StatusOr<std::vector<calibrate::Parameter>> ChooseParameters(const std::vector<std::string>& wanted,
                                                                   const Facts& facts) {
  std::vector<calibrate::ParameterSpec> specs;
  for (const std::string& text : wanted) {
    CLIENT_ASSIGN_OR_RETURN(calibrate::ParameterSpec spec, calibrate::ParseParameterSpec(text));
    spec.name = FullSettingName(facts, spec.name);
    specs.push_back(std::move(spec));
  }
  return calibrate::MakeParameters(specs, facts.settings);
}

calibrate::Origin OriginOf(const v1::Job& job, const Facts& facts) {
  calibrate::Origin origin;
  origin.simulation = absl::StrCat("job ", ShortName(job.name()));
  origin.product_version = SM89_VERSION;
  origin.config_name = facts.config_id;
  if (facts.preset) origin.config = facts.config_id;
  for (const v1::Override& one : job.spec().overrides())
    origin.settings.emplace_back(FullSettingName(facts, one.name()), one.value());
  return origin;
}

absl::Status WriteText(const std::string& path, const std::string& text) {
  FileSink sink(path);
  CLIENT_RETURN_IF_ERROR(sink.Restart());
  CLIENT_RETURN_IF_ERROR(sink.Append(text));
  return sink.Commit();
}

absl::StatusOr<ExitCode> RunCalibrate(Context& context, const CalibrateOptions& options) {
  CLIENT_ASSIGN_OR_RETURN(const calibrate::Measured measured, calibrate::ReadMeasuredFile(options.measured));
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  CLIENT_ASSIGN_OR_RETURN(const v1::Job job, EndedJob(context, options.job));
  CLIENT_ASSIGN_OR_RETURN(const Facts facts, ReadFacts(*client, job.spec()));
  CLIENT_ASSIGN_OR_RETURN(const std::vector<calibrate::Parameter> parameters,
                          ChooseParameters(options.parameters, facts));
  CLIENT_ASSIGN_OR_RETURN(const std::string report, FetchJsonReport(*client, job.name()));
  CLIENT_ASSIGN_OR_RETURN(const calibrate::Simulated start, calibrate::FromReport(report));
  v1::JobSpec base = job.spec();
  base.clear_labels();
  base.set_keep_trace(false);
  base.set_profile(false);
  base.set_ser_trace(v1::SER_TRACE_UNSPECIFIED);
  base.set_display_name("calibration");
  if (options.threads > 0) base.set_threads(options.threads);
  JobOracle oracle(context, std::move(base));
  CLIENT_ASSIGN_OR_RETURN(const calibrate::SearchResult result,
                          calibrate::Search(measured, start, parameters, options.search, &oracle));
  const calibrate::Origin origin = OriginOf(job, facts);
  if (!options.output.empty()) {
    CLIENT_RETURN_IF_ERROR(WriteText(
        options.output, calibrate::ToOverlay(measured, parameters, options.search, result, origin)));
  }
  if (context.flags.json) {
    context.PrintJson(nlohmann::ordered_json::parse(
        calibrate::ToJson(measured, parameters, options.search, result, origin)));
    return kExitOk;
  }
  context.terminal().out() << calibrate::ToTable(measured, parameters, options.search, result, origin);
  if (context.talks() && !options.output.empty())
    context.terminal().err() << "overlay configuration -> " << options.output << '\n';
  return kExitOk;
}

void AddSearchOptions(CLI::App& command, calibrate::SearchOptions& search) {
  command
      .add_option(
          "--hold-out", search.hold_out,
          "A kernel that takes no part in the fit and is reported apart, by its name; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      .add_option(
          "--metric", search.targets,
          "What is made to fit, by Nsight Compute's name; may be repeated (default: cycles, where nobody "
          "measured them durations)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_option("--tolerance", search.tolerance_percent, "Errors inside +/- this need no more work")
      ->check(CLI::Range(0.0, 100.0))
      ->check(NotANumber)
      ->type_name("PERCENT")
      ->capture_default_str();
  command.add_flag(
      "--auto", search.iterate,
      "Go on changing one parameter at a time until every error is inside the tolerance or nothing "
      "improves");
  command.add_option("--max-iterations", search.iterations_max, "End after so many changes")
      ->check(CLI::Range(1u, 1000u))
      ->capture_default_str();
  command.add_option("--max-jobs", search.simulations_max, "Submit at most so many jobs")
      ->check(CLI::Range(1u, 100'000u))
      ->capture_default_str();
}

}  // namespace

void AddCalibrateCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<CalibrateOptions>();
  CLI::App* command = app.add_subcommand(
      "calibrate", "Compare a job with a profiler's CSV, and find settings that fit better");
  command
      ->add_option("--measured", options->measured,
                   "CSV of ncu (--csv, raw or details page, or chosen metrics) or of nsys stats (gpu_trace, "
                   "gpu_kern_sum)")
      ->type_name("FILE")
      ->required();
  command->add_option("--job", options->job, "The simulation of the same kernels; its settings are the start")
      ->type_name("JOB")
      ->required();
  command
      ->add_option("--parameter", options->parameters,
                   "A setting that may change, with bounds if wanted: NAME, NAME=MIN:MAX, NAME:latency, "
                   "NAME:interval; may be repeated (default: the list in sim/calibrate/CALIBRATE.md)")
      ->type_name("NAME[=MIN:MAX]")
      ->allow_extra_args(false);
  AddSearchOptions(*command, options->search);
  command->add_option("--threads", options->threads, "Simulator threads of each job (default: the job's)");
  command
      ->add_option("-o,--output", options->output,
                   "Write an overlay configuration with the history as comments")
      ->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  sm89 calibrate --measured ncu.csv --job JOB\n"
      "  sm89 calibrate --measured ncu.csv --job JOB --auto --hold-out gemm -o fitted.cfg");
  command->callback([&context, options] {
    context.action = [&context, options] { return RunCalibrate(context, *options); };
  });
}

}  // namespace sm89::client
