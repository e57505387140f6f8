#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/checksum.h"
#include "client/cli/commands.h"
#include "client/cli/config_source.h"
#include "client/cli/context.h"
#include "client/cli/format.h"
#include "client/cli/job_view.h"
#include "client/cli/json_out.h"
#include "client/cli/sweep.h"
#include "client/cli/table.h"
#include "client/cli/upload_job.h"
#include "client/error.h"
#include "client/macros.h"

namespace sm89::client {
namespace {

constexpr size_t kJobsMax = 1000;
constexpr char kSweepLabel[] = "sweep";

constexpr std::array<std::pair<const char*, v1::SerTrace>, 3> kSerTraceFormats = {
    {{"compact", v1::SER_TRACE_COMPACT}, {"csv", v1::SER_TRACE_CSV}, {"jsonl", v1::SER_TRACE_JSONL}}};

// The first one when nothing is named; the option takes no other names.
v1::SerTrace SerTraceOf(const std::string& name) {
  const auto* const found = std::find_if(kSerTraceFormats.begin(), kSerTraceFormats.end(),
                                         [&](const auto& format) { return name == format.first; });
  return found == kSerTraceFormats.end() ? kSerTraceFormats.front().second : found->second;
}

std::vector<std::string> SerTraceNames() {
  std::vector<std::string> names;
  for (const auto& [name, format] : kSerTraceFormats) names.emplace_back(name);
  return names;
}

// What makes up each job's specification.
struct SpecOptions {
  std::vector<std::string> sets;
  std::string kernels;
  uint64_t max_cycles = 0;
  uint64_t max_instructions = 0;
  uint32_t threads = 0;
  std::vector<std::string> labels;
  int32_t priority = 0;
  std::string name;
  std::string memory;
  std::string wall;
  bool no_cache = false;
  bool keep_trace = false;
  bool profile = false;
  v1::SerTrace ser_trace = v1::SER_TRACE_UNSPECIFIED;
};

struct SubmitOptions {
  std::vector<std::string> traces;
  std::vector<std::string> sass;
  ProgramFlags program;
  std::vector<std::string> configs;
  std::vector<std::string> vary;
  SpecOptions spec;
  UploadFlags upload;
  std::string request_id;
  bool wait = false;
  bool watch = false;
  bool validate_only = false;
};

absl::StatusOr<v1::JobSpec> BaseSpec(const SpecOptions& options) {
  v1::JobSpec spec;
  CLIENT_ASSIGN_OR_RETURN(const std::vector<v1::Override> overrides, ParseOverrides("--set", options.sets));
  for (const v1::Override& one : overrides) *spec.add_overrides() = one;
  spec.set_kernels(options.kernels);
  spec.set_max_cycles(options.max_cycles);
  if (options.max_instructions != 0) spec.mutable_limits()->set_max_instructions(options.max_instructions);
  spec.set_threads(options.threads);
  spec.set_priority(options.priority);
  spec.set_display_name(options.name);
  spec.set_no_result_cache(options.no_cache);
  spec.set_keep_trace(options.keep_trace);
  spec.set_profile(options.profile);
  spec.set_ser_trace(options.ser_trace);
  for (const std::string& label : options.labels) {
    CLIENT_ASSIGN_OR_RETURN(const auto pair, ParsePair("--label", label));
    (*spec.mutable_labels())[pair.first] = pair.second;
  }
  if (!options.memory.empty()) {
    CLIENT_ASSIGN_OR_RETURN(const uint64_t bytes, ParseBytes("--memory", options.memory));
    spec.mutable_limits()->set_memory_bytes(bytes);
  }
  if (!options.wall.empty()) {
    CLIENT_ASSIGN_OR_RETURN(const uint32_t seconds, ParseSeconds("--wall", options.wall));
    spec.mutable_limits()->set_wall_seconds(seconds);
  }
  return spec;
}

// What the table calls a trace: the ID, or the last part of the path, which may end in '/'.
std::string LabelFor(const std::string& given) {
  std::string path = std::filesystem::path(given).lexically_normal().string();
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const std::string label = ShortName(path);
  return label.empty() ? given : label;
}

// Names on the server for what the user gave, and back.
class Inputs {
 public:
  absl::Status Resolve(Context& context, const SubmitOptions& options) {
    CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
    CLIENT_ASSIGN_OR_RETURN(const Settings* settings, context.GetSettings());
    CLIENT_ASSIGN_OR_RETURN(sweep_.axes, ParseAxes(options.vary));
    std::vector<std::string> configs = options.configs;
    if (configs.empty()) configs.push_back(settings->config);
    for (const std::string& config : configs) {
      CLIENT_ASSIGN_OR_RETURN(sweep_.configs.emplace_back(), ConfigNameFor(*client, config));
    }
    for (const std::string& trace : options.traces) {
      CLIENT_ASSIGN_OR_RETURN(const std::string name, TraceNameFor(context, trace, options.upload));
      labels_[name] = LabelFor(trace);
      sweep_.traces.push_back(name);
    }
    if (!options.program.any()) return absl::OkStatus();
    CLIENT_ASSIGN_OR_RETURN(const UploadOutcome sent, UploadProgram(context, options.program, {}));
    labels_[sent.trace.name()] = sent.trace.display_name();
    sweep_.traces.push_back(sent.trace.name());
    return absl::OkStatus();
  }

  const SweepInputs& sweep() const { return sweep_; }
  std::string LabelOf(const std::string& trace) const {
    const auto found = labels_.find(trace);
    return found == labels_.end() ? ShortName(trace) : found->second;
  }

 private:
  SweepInputs sweep_;
  std::map<std::string, std::string> labels_;
};

absl::StatusOr<v1::Job> SubmitOne(Client& client, const v1::JobSpec& spec, const std::string& request_id,
                                  bool validate_only) {
  v1::SubmitJobRequest request;
  *request.mutable_job() = spec;
  request.set_request_id(request_id.empty() ? NewUuid() : request_id);
  request.set_validate_only(validate_only);
  return client.SubmitJob(request);
}

// All or nothing as far as the server can tell beforehand: every job is checked before the first one is
// submitted.
absl::StatusOr<std::vector<v1::Job>> SubmitAll(Context& context, const std::vector<v1::JobSpec>& specs,
                                               const SubmitOptions& options) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  std::vector<v1::Job> jobs;
  if (options.validate_only || specs.size() > 1) {
    for (const v1::JobSpec& spec : specs) {
      CLIENT_ASSIGN_OR_RETURN(jobs.emplace_back(), SubmitOne(*client, spec, "", /*validate_only=*/true));
    }
    if (options.validate_only) return jobs;
    jobs.clear();
  }
  for (const v1::JobSpec& spec : specs) {
    absl::StatusOr<v1::Job> job = SubmitOne(*client, spec, options.request_id, /*validate_only=*/false);
    if (!job.ok()) {
      if (!jobs.empty()) {
        context.terminal().err() << jobs.size() << " of " << specs.size()
                                 << " jobs were submitted and go on; see them with 'sm89 jobs --filter label."
                                 << kSweepLabel << "=" << spec.labels().at(kSweepLabel) << "'\n";
      }
      return job.status();
    }
    jobs.push_back(*std::move(job));
  }
  return jobs;
}

void PrintSubmitted(Context& context, const std::vector<v1::Job>& jobs, const std::string& sweep_id) {
  Terminal& terminal = context.terminal();
  for (const v1::Job& job : jobs) {
    terminal.out() << job.name() << "  " << StateName(job.state());
    if (job.result_from_cache()) terminal.out() << "  (from the result cache)";
    if (!job.state_reason().empty()) terminal.out() << "  " << Printable(job.state_reason());
    terminal.out() << '\n';
  }
  if (context.flags.quiet) return;
  if (jobs.size() == 1) {
    terminal.err() << "follow it with 'sm89 watch " << ShortName(jobs.front().name()) << "'\n";
  } else {
    terminal.err() << "see them with 'sm89 jobs --filter label." << kSweepLabel << "=" << sweep_id << "'\n";
  }
}

void SayWhatCanBeFetched(Terminal& terminal, const v1::Job& job) {
  const std::string id = ShortName(job.name());
  terminal.err() << "all statistics: 'sm89 result " << id << "'\n";
  if (job.spec().profile()) terminal.err() << "by instruction: 'sm89 profile " << id << "'\n";
  if (job.spec().ser_trace() != v1::SER_TRACE_UNSPECIFIED) {
    terminal.err() << "reordering decisions: 'sm89 result " << id << " --ser-trace FILE'\n";
  }
}

absl::StatusOr<ExitCode> ShowEnds(Context& context, const std::vector<v1::Job>& jobs, const Inputs& inputs) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  ExitCode code = kExitOk;
  std::vector<SweepRow> rows;
  nlohmann::ordered_json json_jobs = nlohmann::ordered_json::array();
  nlohmann::ordered_json json_results = nlohmann::ordered_json::array();
  for (const v1::Job& job : jobs) {
    code = Worse(code, ExitCodeOf(job));
    SweepRow& row = rows.emplace_back();
    row.job = job;
    row.trace_label = inputs.LabelOf(job.spec().trace());
    CLIENT_ASSIGN_OR_RETURN(row.result, FetchSweepResult(*client, job));
    json_jobs.push_back(ToJson(job));
    if (row.result.present) json_results.push_back(ToJson(row.result.result));
  }
  if (context.flags.json) {
    context.PrintJson({{"jobs", json_jobs}, {"results", json_results}});
  } else {
    PrintSweep(context, rows);
  }
  if (jobs.size() == 1 && !context.flags.json) {
    if (ExitCodeOf(jobs.front()) == kExitJobFailed) PrintJobEnd(context, jobs.front());
    if (rows.front().result.present && context.talks()) {
      SayWhatCanBeFetched(context.terminal(), jobs.front());
    }
  }
  return code;
}

absl::StatusOr<std::vector<v1::Job>> WaitForAll(Context& context, const std::vector<v1::Job>& jobs,
                                                const SubmitOptions& options, const std::string& sweep_id) {
  if (jobs.size() == 1) {
    FollowOptions follow;
    follow.show_progress = options.watch;
    const bool draws = options.watch && options.spec.profile && context.terminal().draws_in_place();
    if (draws) follow.profile_rows = kProfileRowsDefault;
    CLIENT_ASSIGN_OR_RETURN(const v1::Job job, FollowJob(context, jobs.front().name(), follow));
    return std::vector<v1::Job>{job};
  }
  std::vector<std::string> names;
  for (const v1::Job& job : jobs) names.push_back(job.name());
  return FollowSweep(context, sweep_id, names);
}

absl::StatusOr<ExitCode> RunSubmit(Context& context, const SubmitOptions& options) {
  CLIENT_ASSIGN_OR_RETURN(v1::JobSpec base, BaseSpec(options.spec));
  if (options.traces.empty() && !options.program.any()) {
    return absl::InvalidArgumentError(
        "nothing to simulate: give --trace, or --cubin with --launch (or --suite with --cubin-dir)");
  }
  CLIENT_RETURN_IF_ERROR(CheckSass(options.sass, options.program));
  Inputs inputs;
  CLIENT_RETURN_IF_ERROR(inputs.Resolve(context, options));
  CLIENT_RETURN_IF_ERROR(AddSass(context, options.sass, &base));
  CLIENT_ASSIGN_OR_RETURN(std::vector<v1::JobSpec> specs, Combine(base, inputs.sweep(), kJobsMax));
  std::string sweep_id;
  if (specs.size() > 1) {
    if (!options.request_id.empty())
      return absl::InvalidArgumentError("--request-id stands for one job, not for several");
    if (base.labels().contains(kSweepLabel)) {
      return absl::InvalidArgumentError(
          "the label 'sweep' is set by the program when one call submits several jobs");
    }
    sweep_id = NewUuid().substr(0, 8);
    for (v1::JobSpec& spec : specs) (*spec.mutable_labels())[kSweepLabel] = sweep_id;
  }
  CLIENT_ASSIGN_OR_RETURN(std::vector<v1::Job> jobs, SubmitAll(context, specs, options));
  if (options.validate_only) {
    if (context.talks())
      context.terminal().out() << jobs.size() << (jobs.size() == 1 ? " job is valid\n" : " jobs are valid\n");
  } else if (options.wait || options.watch) {
    if (context.talks() && jobs.size() == 1) context.terminal().err() << jobs.front().name() << '\n';
    CLIENT_ASSIGN_OR_RETURN(jobs, WaitForAll(context, jobs, options, sweep_id));
    return ShowEnds(context, jobs, inputs);
  } else if (!context.flags.json) {
    PrintSubmitted(context, jobs, sweep_id);
  }
  if (context.flags.json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const v1::Job& job : jobs) list.push_back(ToJson(job));
    context.PrintJson({{"jobs", list}});
  }
  return kExitOk;
}

void AddSpecOptions(CLI::App& command, SpecOptions& spec) {
  command
      .add_option("--set", spec.sets, "A setting on top of the configuration, NAME=VALUE; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--kernels", spec.kernels, "Only these kernels of the trace, e.g. 1,3-5");
  command.add_option("--max-cycles", spec.max_cycles, "End after so many simulated cycles (exit code 5)");
  command
      .add_option("--max-instructions", spec.max_instructions,
                  "Of a program: warp instructions that a launch may execute; one that has not ended by then "
                  "fails the job")
      // The parser takes -1 for the largest number.
      ->check(CLI::Range(uint64_t{1}, ~uint64_t{0} >> 1))
      ->type_name("N");
  command.add_option("--threads", spec.threads, "Simulator threads; any number gives the same result");
  command.add_option("--label", spec.labels, "KEY=VALUE to find the job by; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--priority", spec.priority, "-10 to 10, higher first")->check(CLI::Range(-10, 10));
  command.add_option("--name", spec.name, "Name to show");
  command.add_option("--memory", spec.memory, "Memory limit of the simulation, e.g. 4G");
  command.add_option("--wall", spec.wall, "Time limit of the simulation, e.g. 90s, 15m, 2h");
  command.add_flag("--keep-trace", spec.keep_trace,
                   "Keep what a program executed as a compact trace: 'sm89 result JOB --trace FILE'");
  command.add_flag("--profile", spec.profile, "Count by instruction: 'sm89 profile JOB' shows it");
  command
      .add_option_function<std::vector<std::string>>(
          "--ser-trace",
          [&spec](const std::vector<std::string>& given) {
            spec.ser_trace = SerTraceOf(given.empty() ? "" : given.front());
          },
          "Keep every decision of the reordering stage (a configuration with gpgpu_sm89_ser_enabled): "
          "'sm89 result JOB --ser-trace FILE'; compact (default), csv or jsonl")
      ->expected(0, 1)
      ->check(CLI::IsMember(SerTraceNames()))
      ->type_name("[FORMAT]");
  command.add_flag("--no-cache", spec.no_cache, "Simulate even if the same question was answered before");
}

}  // namespace

void AddSubmitCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<SubmitOptions>();
  CLI::App* command = app.add_subcommand("submit", "Queue simulations: each trace with each configuration");
  command
      ->add_option(
          "--trace", options->traces,
          "Name of a trace or program on the server, or a PATH, which is uploaded first; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--sass", options->sass,
          "Machine code whose control bits and operands the trace's kernels get: a FILE (cubin, or text "
          "of cuobjdump -sass or nvdisasm -hex), which is uploaded first, or its name on the server; "
          "may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--config", options->configs,
                   "Name of a configuration, or a FILE, which is stored first; may be repeated (default: the "
                   "settings file's, else RTX4090)")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--vary", options->vary,
          "NAME=VALUE; several of one NAME make a sweep: one job for each value, all combinations of "
          "different NAMEs")
      ->allow_extra_args(false);
  AddProgramOptions(*command, options->program);
  AddSpecOptions(*command, options->spec);
  command->add_flag("--wait", options->wait,
                    "Wait for the end and print the table; the exit code says how it ended");
  command->add_flag("--watch", options->watch,
                    "The same, with progress; on a terminal with --profile where warps wait");
  command->add_flag("--validate-only", options->validate_only, "Check everything, but queue nothing");
  command->add_option("--request-id", options->request_id,
                      "UUID: the same one gives the same job, however often it is sent");
  AddIngestOptions(*command, options->upload);
  command->footer(
      "Examples:\n"
      "  sm89 submit --trace bfs.tar.xz --config RTX4090 --watch\n"
      "  sm89 submit --cubin gemm.cubin --launch gemm.json --watch\n"
      "  sm89 submit --trace a.tar.zst --trace b.tar.zst --vary gpgpu_n_mem=12 --vary "
      "gpgpu_n_mem=24 --wait");
  command->callback(
      [&context, options] { context.action = [&context, options] { return RunSubmit(context, *options); }; });
}

}  // namespace sm89::client
