#include "server/analysis/analysis_runner.h"

#include <signal.h>

#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

constexpr uint64_t kErrorBytesMax = 4 << 20;
constexpr int kExitRefused = 1;
constexpr int kExitOutOfMemory = 4;

std::string OutputPath(const std::string& folder) { return folder + "/answer"; }
std::string ResultPath(const std::string& folder) { return folder + "/result.json"; }
std::string StderrPath(const std::string& folder) { return folder + "/stderr"; }

}  // namespace

AnalysisAnswer::~AnalysisAnswer() { files_.RemoveTree(folder_).IgnoreError(); }

absl::StatusOr<std::unique_ptr<AnalysisAnswer>> AnalysisRunner::Run(const AnalysisJob& job,
                                                                    ChildCancel& cancel) {
  const std::string folder = absl::StrCat(options_.scratch_dir, "/", ids_.NewId());
  RETURN_IF_ERROR(files_.MakeDirs(folder));
  absl::Status status = RunIn(folder, job, cancel);
  if (status.ok()) {
    absl::StatusOr<std::unique_ptr<ReadableFile>> file = files_.OpenRead(OutputPath(folder));
    if (file.ok()) return std::make_unique<AnalysisAnswer>(files_, folder, *std::move(file));
    status = absl::InternalError(absl::StrCat("the analysis left no answer: ", file.status().message()));
  }
  files_.RemoveTree(folder).IgnoreError();
  return status;
}

absl::Status AnalysisRunner::RunIn(const std::string& folder, const AnalysisJob& job, ChildCancel& cancel) {
  ASSIGN_OR_RETURN(const ProcessSpec spec, SpecFor(job, folder));
  ASSIGN_OR_RETURN(const ChildEnd end, RunChild(processes_, clock_, spec, options_.wall_seconds, cancel));
  return Judge(end, folder);
}

absl::StatusOr<ProcessSpec> AnalysisRunner::SpecFor(const AnalysisJob& job, const std::string& folder) {
  ProcessSpec spec;
  spec.program = options_.worker_program;
  spec.args = {"analyze"};
  // Each as one word, so that no value is taken for an option.
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) spec.args.push_back(absl::StrCat(option, "=", value));
  };
  add("--output", OutputPath(folder));
  add("--result", ResultPath(folder));
  add("--kind", job.kind);
  add("--format", job.format);
  add("--image", job.image_path);
  if (!job.image.empty()) {
    const std::string path = folder + "/image";  // the name that faults give
    RETURN_IF_ERROR(AtomicWriteFile(files_, path, job.image));
    add("--image", path);
  }
  add("--module", job.module);
  add("--function", job.function);
  if (job.arch != 0) add("--arch", absl::StrCat(job.arch));
  if (!job.ptx.empty()) {
    const std::string path = folder + "/ptx";
    RETURN_IF_ERROR(AtomicWriteFile(files_, path, job.ptx));
    add("--ptx", path);
  }
  add("--ptxas", options_.ptxas);
  if (job.threads != 0) add("--threads", absl::StrCat(job.threads));
  if (job.dynamic_shared_bytes != 0) add("--dynamic-shared-bytes", absl::StrCat(job.dynamic_shared_bytes));
  add("--shape", job.shape);
  add("--type", job.type);
  // No PATH: what the child may run is named above.
  spec.environment = {"LC_ALL=C.UTF-8", absl::StrCat("TMPDIR=", folder)};
  spec.stderr_path = StderrPath(folder);
  spec.address_space_bytes = options_.memory_bytes;
  spec.file_bytes = options_.answer_bytes_max;
  return spec;
}

absl::Status AnalysisRunner::Judge(const ChildEnd& end, const std::string& folder) {
  if (end.kind == ChildEnd::Kind::kCancelled) return absl::CancelledError("the analysis was stopped");
  if (end.kind == ChildEnd::Kind::kTimedOut) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the analysis took longer than ", options_.wall_seconds, " s"));
  }
  const ProcessExit& exit = end.exit;
  if (exit.success()) return absl::OkStatus();
  if (exit.signal == 0 && exit.code == kExitRefused) return ErrorOf(folder);
  if ((exit.signal == 0 && exit.code == kExitOutOfMemory) || exit.signal == SIGKILL) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the analysis needs more than ", options_.memory_bytes, " bytes of memory"));
  }
  if (exit.signal == SIGXFSZ) {
    return absl::ResourceExhaustedError(absl::StrCat("the answer is larger than ", options_.answer_bytes_max,
                                                     " bytes: ask for one function"));
  }
  return absl::InternalError(
      absl::StrCat("the analysis crashed: ", DescribeExit(exit), StderrTail(files_, StderrPath(folder))));
}

absl::Status AnalysisRunner::ErrorOf(const std::string& folder) {
  const absl::StatusOr<std::string> text = ReadWholeFile(files_, ResultPath(folder), kErrorBytesMax);
  if (!text.ok()) {
    return absl::InternalError(
        absl::StrCat("the analysis failed without a reason", StderrTail(files_, StderrPath(folder))));
  }
  absl::Status status = StatusFromJson(*text);
  return status.ok() ? absl::InternalError("the analysis failed without a reason") : status;
}

}  // namespace sm89
