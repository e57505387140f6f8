#include "server/worker/analyze_command.h"

#include <CLI/CLI.hpp>
#include <string>

#include "server/worker/child_command.h"
#include "sim/base/fault.h"
#include "sim/tools/analysis_command.h"

namespace sm89 {
namespace {

struct AnalyzeArgs {
  std::string output;
  std::string result;
  AnalysisRequest request;
};

bool ParseArgs(int argc, char** argv, AnalyzeArgs* args, int* exit_code) {
  AnalysisRequest& request = args->request;
  CLI::App app("One static analysis of machine code.", "sm89-worker analyze");
  app.add_option("--output", args->output)->required();
  app.add_option("--result", args->result)->required();
  app.add_option("--kind", request.kind)->required();
  app.add_option("--format", request.format);
  app.add_option("--image", request.image_path);
  app.add_option("--module", request.module);
  app.add_option("--function", request.function);
  app.add_option("--arch", request.arch);
  app.add_option("--ptx", request.ptx_path);
  app.add_option("--ptxas", request.ptxas);
  app.add_option("--threads", request.threads);
  app.add_option("--dynamic-shared-bytes", request.dynamic_shared_bytes);
  app.add_option("--shape", request.shape);
  app.add_option("--type", request.type);
  try {  // CLI11 speaks in exceptions; they end here
    app.parse(argc - 1, argv + 1);
  } catch (const CLI::ParseError& error) {
    *exit_code = app.exit(error) == 0 ? kChildExitOk : kChildExitUsage;
    return false;
  }
  return true;
}

}  // namespace

int RunAnalyzeCommand(int argc, char** argv) {
  BecomeChildCommand();
  AnalyzeArgs args;
  int exit_code = kChildExitOk;
  if (!ParseArgs(argc, argv, &args, &exit_code)) return exit_code;
  const absl::StatusOr<std::string> answer = RunAnalysis(args.request);
  if (answer.ok()) return WriteResult(args.output, *answer) ? kChildExitOk : kChildExitUsage;
  return WriteResult(args.result, StatusToJson(answer.status())) ? kChildExitRefused : kChildExitUsage;
}

}  // namespace sm89
