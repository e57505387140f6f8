#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/context.h"
#include "client/cli/format.h"
#include "client/cli/job_view.h"
#include "client/cli/json_out.h"
#include "client/cli/target_option.h"
#include "client/gunzip_sink.h"
#include "client/macros.h"
#include "client/result_reader.h"
#include "client/watcher.h"

namespace sm89::client {
namespace {

constexpr char kTimeline[] = "timeline.json.gz";  // stored compressed
constexpr char kSerTrace[] = "ser_trace";         // with an ending that the job's form decides

// One stored rendering and the option that asks for it.
struct Rendering {
  const char* option;
  const char* artifact;
  const char* help;
};
constexpr Rendering kRenderings[] = {
    {"--json", "report.json", "Write the stored JSON report, byte for byte; '-' or no FILE: to the output"},
    {"--csv", "report.csv", "The same for the CSV, one row a kernel"},
    {"--text", "report.txt", "The same for the text with the names that Accel-Sim's scrapers look for"},
    {"--table", "report.table", "The same for the table for people (the default)"},
    {"--kineto", kTimeline,
     "The timeline as a chrome trace with the fields of PyTorch's profiler; FILE.gz: compressed"},
    {"--ser-trace", kSerTrace,
     "The reordering stage's decisions of a job that was submitted with --ser-trace, in the form chosen "
     "there"},
    {"--trace", "trace.sm89t", "The kept trace of a program that was submitted with --keep-trace"},
};

struct ResultOptions {
  std::string job;
  // By position in kRenderings; "-" for the output, empty for not asked.
  std::vector<std::string> targets = std::vector<std::string>(std::size(kRenderings));
};

// Sinks of one call, in the order of the wanted artifacts.
struct Targets {
  std::vector<WantedArtifact> wanted;
  std::vector<std::unique_ptr<ArtifactSink>> sinks;
  std::vector<std::pair<std::string, std::string>> files;  // artifact, path
  StringSink* to_output = nullptr;
};

// Where the job keeps its decisions. INVALID_ARGUMENT when `file` is named for another form.
absl::StatusOr<std::string> SerTraceArtifact(Context& context, const std::string& name,
                                             const std::string& file) {
  CLIENT_ASSIGN_OR_RETURN(const v1::Job job, GetJob(context, name));
  const v1::SerTrace format = job.spec().ser_trace();
  if (format == v1::SER_TRACE_UNSPECIFIED) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", ShortName(name), " was submitted without --ser-trace: no decision was kept"));
  }
  const char* ending = format == v1::SER_TRACE_CSV     ? ".csv"
                       : format == v1::SER_TRACE_JSONL ? ".jsonl"
                                                       : ".ser";
  for (const char* other : {".csv", ".jsonl"}) {
    if (!absl::EndsWith(file, other) || std::string_view(other) == ending) continue;
    return absl::InvalidArgumentError(absl::StrCat("the job keeps its decisions as ser_trace", ending,
                                                   ", which is no ", other, " file; name ", file,
                                                   " otherwise, or submit with another --ser-trace=FORMAT"));
  }
  return absl::StrCat(kSerTrace, ending);
}

absl::StatusOr<Targets> ChooseTargets(Context& context, const std::string& name,
                                      const ResultOptions& options) {
  Targets targets;
  for (size_t i = 0; i < std::size(kRenderings); ++i) {
    const std::string& target = options.targets[i];
    if (target.empty()) continue;
    std::string artifact = kRenderings[i].artifact;
    if (artifact == kSerTrace) {
      CLIENT_ASSIGN_OR_RETURN(artifact, SerTraceArtifact(context, name, target));
    }
    const bool unpack = artifact == kTimeline && !target.ends_with(".gz");
    if (target == kToOutput) {
      if (targets.to_output != nullptr) {
        return absl::InvalidArgumentError("only one rendering can go to the output; give the others a FILE");
      }
      auto sink = std::make_unique<StringSink>();
      targets.to_output = sink.get();
      targets.sinks.push_back(std::move(sink));
    } else {
      for (const auto& [other, path] : targets.files) {
        if (!IsOneFile(path, target)) continue;
        return absl::InvalidArgumentError(
            absl::StrCat(other, " and ", artifact, " cannot both go to ", target));
      }
      targets.sinks.push_back(std::make_unique<FileSink>(target));
      targets.files.emplace_back(artifact, target);
    }
    if (unpack) targets.sinks.back() = std::make_unique<GunzipSink>(std::move(targets.sinks.back()));
    targets.wanted.push_back({artifact, targets.sinks.back().get()});
  }
  if (!targets.wanted.empty() || context.flags.json) return targets;
  auto sink = std::make_unique<StringSink>();
  targets.to_output = sink.get();
  targets.wanted.push_back({"report.table", sink.get()});
  targets.sinks.push_back(std::move(sink));
  return targets;
}

// There is no result: says how the job stands instead, when it can be had.
absl::StatusOr<ExitCode> ExplainMissing(Context& context, Client& client, const std::string& name,
                                        const absl::Status& status) {
  if (!absl::IsFailedPrecondition(status) && !absl::IsNotFound(status)) return status;
  v1::GetJobRequest request;
  request.set_name(name);
  const absl::StatusOr<v1::Job> job = client.GetJob(request);
  if (!job.ok()) return status;
  const std::string id = ShortName(name);
  if (!IsTerminal(job->state())) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", id, " is ", StateName(job->state()),
                     ": there is no result yet; wait for it with 'sm89 watch ", id, "'"));
  }
  if (job->state() == v1::Job::SUCCEEDED) return status;
  if (context.flags.json) {
    context.PrintJson(ToJson(*job));
  } else {
    PrintJobEnd(context, *job);
  }
  context.terminal().err() << "error: there is no result: the job "
                           << (job->state() == v1::Job::FAILED ? "failed" : "was cancelled") << '\n';
  return kExitJobFailed;
}

absl::StatusOr<ExitCode> RunResult(Context& context, const ResultOptions& options) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  CLIENT_ASSIGN_OR_RETURN(const std::string name, FullName("jobs", options.job));
  CLIENT_ASSIGN_OR_RETURN(const Targets targets, ChooseTargets(context, name, options));
  const absl::StatusOr<v1::Result> result = FetchResult(*client, name, targets.wanted);
  if (!result.ok()) return ExplainMissing(context, *client, name, result.status());
  Terminal& terminal = context.terminal();
  if (targets.to_output != nullptr) {
    terminal.out() << targets.to_output->text();
  } else if (context.flags.json) {
    context.PrintJson(ToJson(*result));
  }
  if (!context.flags.quiet) {
    for (const auto& [artifact, path] : targets.files) terminal.err() << artifact << " -> " << path << '\n';
  }
  if (result->status() == "complete") return kExitOk;
  terminal.err() << "the result is not complete (" << Printable(result->status()) << "): statistics so far\n";
  return kExitIncomplete;
}

}  // namespace

void AddResultCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<ResultOptions>();
  CLI::App* command = app.add_subcommand("result", "Fetch the result of a finished job");
  command->add_option("JOB", options->job, "ID, with or without jobs/")->required();
  for (size_t i = 0; i < std::size(kRenderings); ++i) {
    AddTarget(command, kRenderings[i].option, &options->targets[i], kRenderings[i].help);
  }
  command->footer(
      "With --json before the command ('sm89 --json result JOB') the typed result is printed instead.");
  command->callback(
      [&context, options] { context.action = [&context, options] { return RunResult(context, *options); }; });
}

}  // namespace sm89::client
