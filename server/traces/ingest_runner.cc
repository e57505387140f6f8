#include "server/traces/ingest_runner.h"

#include <signal.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"

namespace sm89 {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kResultBytesMax = 16 << 20;  // 1,000 faults and 100 warnings fit many times
constexpr size_t kWarningsMax = 100;

IngestOutcome Refused(absl::Status error) {
  IngestOutcome outcome;
  outcome.kind = IngestOutcome::Kind::kRefused;
  outcome.error = std::move(error);
  return outcome;
}

IngestOutcome Ours(absl::Status error) {
  IngestOutcome outcome;
  outcome.kind = IngestOutcome::Kind::kOurs;
  outcome.error = std::move(error);
  return outcome;
}

uint64_t NumberOf(const Json& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_number_unsigned() ? it->get<uint64_t>() : 0;
}

std::vector<std::string> TextsOf(const Json& json, const char* key, size_t max) {
  std::vector<std::string> texts;
  const auto it = json.find(key);
  if (it == json.end() || !it->is_array()) return texts;
  for (const Json& item : *it) {
    if (item.is_string() && texts.size() < max) texts.push_back(item.get<std::string>());
  }
  return texts;
}

std::string ResultPath(const std::string& folder) { return folder + "/result.json"; }
std::string OutputPath(const std::string& folder) { return folder + "/compact.trace"; }
std::string StderrPath(const std::string& folder) { return folder + "/stderr"; }

}  // namespace

ProcessSpec IngestRunner::SpecFor(const IngestJob& job, const std::string& folder) const {
  ProcessSpec spec;
  spec.program = options_.worker_program;
  spec.args = {"ingest",
               "--input",
               job.input,
               "--output",
               OutputPath(folder),
               "--result",
               ResultPath(folder),
               "--max-unpacked-bytes",
               absl::StrCat(options_.max_unpacked_bytes)};
  if (job.options.foreign_arch) spec.args.emplace_back("--foreign-arch");
  if (job.options.allow_partial) spec.args.emplace_back("--allow-partial");
  if (job.options.unknown_as_nop) spec.args.emplace_back("--unknown-as-nop");
  if (job.options.machine_code) spec.args.emplace_back("--machine-code");
  if (!options_.ptxas.empty()) spec.args.insert(spec.args.end(), {"--ptxas", options_.ptxas});
  spec.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", absl::StrCat("TMPDIR=", folder)};
  spec.stderr_path = StderrPath(folder);
  spec.address_space_bytes = options_.memory_bytes;
  return spec;
}

IngestOutcome IngestRunner::Run(const IngestJob& job, IngestCancel& cancel) {
  const std::string folder = absl::StrCat(options_.scratch_dir, "/", ids_.NewId());
  if (const absl::Status made = files_.MakeDirs(folder); !made.ok()) return Ours(made);
  IngestOutcome outcome = RunIn(folder, job, cancel);
  if (outcome.kind == IngestOutcome::Kind::kReady) {
    outcome.folder = folder;
  } else {
    // Whatever the child unpacked lies in it too. What stays behind is cleared at next start.
    files_.RemoveTree(folder).IgnoreError();
  }
  return outcome;
}

IngestOutcome IngestRunner::RunIn(const std::string& folder, const IngestJob& job, IngestCancel& cancel) {
  const absl::StatusOr<ChildEnd> end =
      RunChild(processes_, clock_, SpecFor(job, folder), options_.wall_seconds, cancel);
  return end.ok() ? Judge(*end, folder) : Ours(end.status());
}

IngestOutcome IngestRunner::Judge(const ChildEnd& end, const std::string& folder) {
  if (end.kind == ChildEnd::Kind::kCancelled) {
    IngestOutcome outcome;
    outcome.kind = IngestOutcome::Kind::kCancelled;
    outcome.error = absl::CancelledError("reading the upload was stopped");
    return outcome;
  }
  if (end.kind == ChildEnd::Kind::kTimedOut) {
    return Refused(absl::ResourceExhaustedError(
        absl::StrCat("reading the upload took longer than ", options_.wall_seconds, " s")));
  }
  const ProcessExit& exit = end.exit;
  if (exit.signal == 0 && (exit.code == 0 || exit.code == 1)) return ReadResult(folder);
  if (exit.signal == 0 && exit.code == kIngestExitOutOfMemory) {
    return Refused(absl::ResourceExhaustedError(
        absl::StrCat("reading the upload needs more than ", options_.memory_bytes, " bytes of memory")));
  }
  const std::string why = absl::StrCat(DescribeExit(exit), LastWords(folder));
  if (exit.signal == 0 && exit.code == kIngestExitNoResult) {
    return Ours(absl::InternalError(absl::StrCat("the reader of the upload could not work: ", why)));
  }
  if (exit.signal == SIGKILL) {
    return Refused(absl::ResourceExhaustedError(
        absl::StrCat("the reader of the upload was killed, most likely for its memory: ", why)));
  }
  return Refused(absl::InternalError(absl::StrCat("the reader of the upload crashed: ", why)));
}

IngestOutcome IngestRunner::ReadResult(const std::string& folder) {
  const absl::StatusOr<std::string> text = ReadWholeFile(files_, ResultPath(folder), kResultBytesMax);
  if (!text.ok()) {
    return Ours(absl::InternalError(absl::StrCat(
        "the reader of the upload left no result: ", text.status().message(), LastWords(folder))));
  }
  const Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  const auto ok = json.is_object() ? json.find("ok") : json.end();
  if (!json.is_object() || ok == json.end() || !ok->is_boolean()) {
    return Ours(absl::InternalError("the reader of the upload left an unreadable result"));
  }
  if (!ok->get<bool>()) {
    const auto status_json = json.find("status");
    absl::Status status = status_json != json.end() ? StatusFromJson(status_json->dump()) : absl::OkStatus();
    if (status.ok()) status = absl::InternalError("the reader of the upload failed without a reason");
    // A full disk looks like a bound to the child; it is ours, not the upload's.
    const bool disk_full = absl::IsResourceExhausted(status) &&
                           files_.FreeBytes(options_.scratch_dir).value_or(0) < options_.min_free_bytes;
    return disk_full ? Ours(std::move(status)) : Refused(std::move(status));
  }
  IngestOutcome outcome;
  outcome.kind = IngestOutcome::Kind::kReady;
  outcome.output = OutputPath(folder);
  TraceContent& content = outcome.content;
  const auto digest = json.find("digest");
  if (digest != json.end() && digest->is_string()) content.digest = digest->get<std::string>();
  if (content.digest.empty()) return Ours(absl::InternalError("the reader of the upload named no digest"));
  content.kernels = NumberOf(json, "kernels");
  content.warp_instructions = NumberOf(json, "warp_instructions");
  content.thread_instructions = NumberOf(json, "thread_instructions");
  content.memcpy_h2d_bytes = NumberOf(json, "memcpy_h2d_bytes");
  content.marks = TextsOf(json, "marks", kWarningsMax);
  content.warnings = TextsOf(json, "warnings", kWarningsMax);
  return outcome;
}

std::string IngestRunner::LastWords(const std::string& folder) {
  return StderrTail(files_, StderrPath(folder));
}

}  // namespace sm89
