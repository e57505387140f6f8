#include "server/worker/ingest_command.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/worker/child_command.h"
#include "server/worker/ingest_program.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/ingest/ingest.h"
#include "sim/replay/program.h"

namespace sm89 {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kWarningsMax = 100;

struct IngestArgs {
  std::string input;
  std::string output;
  std::string result;
  std::string ptxas;
  bool machine_code = false;
  IngestOptions options;
};

bool ParseArgs(int argc, char** argv, IngestArgs* args, int* exit_code) {
  CLI::App app("Reads one upload into the compact format.", "sm89-worker ingest");
  app.add_option("--input", args->input)->required();
  app.add_option("--output", args->output)->required();
  app.add_option("--result", args->result)->required();
  app.add_flag("--foreign-arch", args->options.foreign_arch);
  app.add_flag("--allow-partial", args->options.allow_partial);
  app.add_flag("--unknown-as-nop", args->options.unknown_as_nop);
  app.add_flag("--machine-code", args->machine_code);
  app.add_option("--ptxas", args->ptxas);
  app.add_option("--max-unpacked-bytes", args->options.max_unpacked_bytes);
  try {  // CLI11 speaks in exceptions; they end here
    app.parse(argc - 1, argv + 1);
  } catch (const CLI::ParseError& error) {
    *exit_code = app.exit(error) == 0 ? kChildExitOk : kChildExitUsage;
    return false;
  }
  return true;
}

Json Describe(const IngestResult& ingested) {
  uint64_t warp_instructions = 0;
  uint64_t thread_instructions = 0;
  for (const KernelInfo& kernel : ingested.info.kernels) {
    warp_instructions += kernel.warp_instructions;
    thread_instructions += kernel.thread_instructions;
  }
  uint64_t memcpy_bytes = 0;
  for (const TraceCommand& command : ingested.info.commands) {
    if (command.kind == CommandKind::kMemcpyHtoD) memcpy_bytes += command.bytes;
  }
  Json marks = Json::array();
  for (const TraceMark& mark : ingested.info.marks)
    marks.push_back(absl::StrCat(mark.kind, ": ", mark.detail));
  Json warnings = Json::array();
  for (const TraceWarning& warning : ingested.info.warnings) {
    if (warnings.size() + 1 == kWarningsMax && ingested.info.warnings.size() > kWarningsMax) {
      warnings.push_back(absl::StrCat("and ", ingested.info.warnings.size() - warnings.size(), " more"));
      break;
    }
    warnings.push_back(absl::StrCat(warning.kind, ": ", warning.message));
  }
  Json json;
  json["ok"] = true;
  json["digest"] = ingested.written.digest;
  json["file_bytes"] = ingested.written.file_bytes;
  json["kernels"] = ingested.info.kernels.size();
  json["warp_instructions"] = warp_instructions;
  json["thread_instructions"] = thread_instructions;
  json["memcpy_h2d_bytes"] = memcpy_bytes;
  json["marks"] = std::move(marks);
  json["warnings"] = std::move(warnings);
  return json;
}

// How many instructions a program executes is known only after it ran.
Json Describe(const IngestedProgram& ingested) {
  Json json;
  json["ok"] = true;
  json["digest"] = ingested.digest;
  json["file_bytes"] = ingested.file_bytes;
  json["kernels"] = ingested.launches;
  json["warp_instructions"] = 0;
  json["thread_instructions"] = 0;
  json["memcpy_h2d_bytes"] = 0;
  json["marks"] = ingested.marks;
  json["warnings"] = Json::array();
  return json;
}

absl::StatusOr<Json> Ingest(const IngestArgs& args) {
  if (args.machine_code) {
    ASSIGN_OR_RETURN(const IngestedProgram code,
                     IngestMachineCode(args.input, args.output, args.options.max_unpacked_bytes));
    return Describe(code);
  }
  if (IsProgramFile(args.input)) {
    ASSIGN_OR_RETURN(const IngestedProgram program, IngestProgram(args.input, args.output, args.ptxas));
    return Describe(program);
  }
  ASSIGN_OR_RETURN(const IngestResult trace, IngestTrace(args.input, args.output, args.options));
  return Describe(trace);
}

}  // namespace

int RunIngestCommand(int argc, char** argv) {
  BecomeChildCommand();
  IngestArgs args;
  int exit_code = kChildExitOk;
  if (!ParseArgs(argc, argv, &args, &exit_code)) return exit_code;
  const absl::StatusOr<Json> ingested = Ingest(args);
  Json json;
  if (ingested.ok()) {
    json = *ingested;
  } else {
    json["ok"] = false;
    json["status"] = Json::parse(StatusToJson(ingested.status()), nullptr, /*allow_exceptions=*/false);
  }
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (!WriteResult(args.result, text)) return kChildExitUsage;
  return ingested.ok() ? kChildExitOk : kChildExitRefused;
}

}  // namespace sm89
