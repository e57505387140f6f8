#include "server/worker/ingest_command.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <new>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/os/file_store.h"
#include "sim/base/fault.h"
#include "sim/ingest/ingest.h"

namespace sm89 {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kExitRefused = 1;
constexpr int kExitUsage = 2;
constexpr int kExitOutOfMemory = 4;  // kIngestExitOutOfMemory of the daemon
constexpr size_t kWarningsMax = 100;

struct IngestArgs {
  std::string input;
  std::string output;
  std::string result;
  IngestOptions options;
};

// Nothing can be unwound when memory is gone: the daemon learns it from the exit code.
void OutOfMemory() {
  constexpr char kText[] = "sm89-worker ingest: out of memory\n";
  [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, kText, sizeof kText - 1);
  _exit(kExitOutOfMemory);
}

bool ParseArgs(int argc, char** argv, IngestArgs* args, int* exit_code) {
  CLI::App app("Reads one upload into the compact format.", "sm89-worker ingest");
  app.add_option("--input", args->input)->required();
  app.add_option("--output", args->output)->required();
  app.add_option("--result", args->result)->required();
  app.add_flag("--foreign-arch", args->options.foreign_arch);
  app.add_flag("--allow-partial", args->options.allow_partial);
  app.add_flag("--unknown-as-nop", args->options.unknown_as_nop);
  app.add_option("--max-unpacked-bytes", args->options.max_unpacked_bytes);
  try {  // CLI11 speaks in exceptions; they end here
    app.parse(argc - 1, argv + 1);
  } catch (const CLI::ParseError& error) {
    *exit_code = app.exit(error) == 0 ? 0 : kExitUsage;
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

}  // namespace

int RunIngestCommand(int argc, char** argv) {
  std::set_new_handler(OutOfMemory);
  // The daemon's thread that started us waits for us, so its end is the daemon's end.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  IngestArgs args;
  int exit_code = 0;
  if (!ParseArgs(argc, argv, &args, &exit_code)) return exit_code;
  const absl::StatusOr<IngestResult> ingested = IngestTrace(args.input, args.output, args.options);
  Json json;
  if (ingested.ok()) {
    json = Describe(*ingested);
  } else {
    json["ok"] = false;
    json["status"] = Json::parse(StatusToJson(ingested.status()), nullptr, /*allow_exceptions=*/false);
  }
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (const absl::Status written = AtomicWriteFile(PosixFileStore(), args.result, text); !written.ok()) {
    const std::string line = absl::StrCat("sm89-worker ingest: ", written.message(), "\n");
    [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, line.data(), line.size());
    return kExitUsage;
  }
  return ingested.ok() ? 0 : kExitRefused;
}

}  // namespace sm89
