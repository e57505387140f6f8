#include "server/worker/analyze_command.h"

#include <CLI/CLI.hpp>
#include <string>

#include "server/worker/child_command.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/replay/program.h"
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
  request.arch = 0;
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

// What is meant when no architecture is named.
absl::StatusOr<uint32_t> DefaultArch(const std::string& image_path) {
  constexpr uint32_t kArch = 89;
  if (!IsProgramFile(image_path)) return kArch;
  ASSIGN_OR_RETURN(const Program program, ReadProgramFile(image_path));
  return program.arch;
}

absl::StatusOr<std::string> Analyze(AnalysisRequest request) {
  if (request.arch == 0) {
    ASSIGN_OR_RETURN(request.arch, DefaultArch(request.image_path));
  }
  return RunAnalysis(request);
}

}  // namespace

int RunAnalyzeCommand(int argc, char** argv) {
  BecomeChildCommand();
  AnalyzeArgs args;
  int exit_code = kChildExitOk;
  if (!ParseArgs(argc, argv, &args, &exit_code)) return exit_code;
  const absl::StatusOr<std::string> answer = Analyze(args.request);
  if (answer.ok()) return WriteResult(args.output, *answer) ? kChildExitOk : kChildExitUsage;
  return WriteResult(args.result, StatusToJson(answer.status())) ? kChildExitRefused : kChildExitUsage;
}

}  // namespace sm89
