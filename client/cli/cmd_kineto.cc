#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/context.h"
#include "client/cli/json_out.h"
#include "client/kineto/gz_file.h"
#include "client/kineto/merge.h"
#include "client/macros.h"

namespace sm89::client {
namespace {

struct KinetoOptions {
  MergeOptions merge;
  std::string report;
};

absl::Status CheckDifferent(const KinetoOptions& options) {
  const auto same = [](const std::string& a, const std::string& b) {
    std::error_code error;
    return std::filesystem::equivalent(a, b, error) || a == b;
  };
  const MergeOptions& merge = options.merge;
  for (const std::string& input : {merge.host, merge.simulated}) {
    for (const std::string& output : {merge.output, options.report}) {
      if (!output.empty() && same(input, output)) {
        return absl::InvalidArgumentError(absl::StrCat(output, " is an input: name another file"));
      }
    }
  }
  if (same(merge.output, options.report)) {
    return absl::InvalidArgumentError("the report cannot go into the merged trace's file");
  }
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> RunKinetoMerge(Context& context, const KinetoOptions& options) {
  CLIENT_RETURN_IF_ERROR(CheckDifferent(options));
  CLIENT_ASSIGN_OR_RETURN(const TraceJson report, MergeTraces(options.merge));
  if (!options.report.empty()) {
    CLIENT_ASSIGN_OR_RETURN(const std::unique_ptr<GzOutput> file, GzOutput::Create(options.report));
    CLIENT_RETURN_IF_ERROR(file->Write(JsonText(report)));
    CLIENT_RETURN_IF_ERROR(file->Commit());
  }
  if (context.flags.json) context.PrintJson(report);
  if (context.talks()) context.terminal().out() << MergeReportText(report);
  if (report["simulated_without_launch"]["count"] == 0) return kExitOk;
  context.terminal().err() << "not every simulated kernel has a launch in the profile\n";
  return kExitIncomplete;
}

}  // namespace

void AddKinetoCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<KinetoOptions>();
  CLI::App* command =
      app.add_subcommand("kineto-merge", "Put a simulated timeline into a PyTorch profile; asks no server");
  command->add_option("HOST", options->merge.host, "Trace of torch.profiler, plain or gzip")->required();
  command
      ->add_option("SIM", options->merge.simulated,
                   "Timeline of 'sm89 result JOB --kineto' or 'sm89-sim --kineto'")
      ->required();
  command->add_option("-o,--output", options->merge.output, "The merged trace; NAME.gz: compressed")
      ->required()
      ->type_name("FILE");
  command->add_option("--report", options->report, "What matched and what did not, as JSON")
      ->type_name("FILE");
  command->add_flag(
      "--replace", options->merge.replace,
      "Leave out measured kernels that have a simulated counterpart, so that tools which expect one "
      "kernel a launch see the simulated one");
  command->footer(
      "Exit code 5: the merged trace is complete, but some simulated kernels have no launch in HOST.\n"
      "client/README.md says how kernels are matched and placed.");
  command->callback([&context, options] {
    options->merge.stop = context.stop();
    context.action = [&context, options] { return RunKinetoMerge(context, *options); };
  });
}

}  // namespace sm89::client
