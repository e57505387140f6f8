// Analyses machine code in a child process with limits.
//
// The child is `WORKER analyze --output OUT --result R --kind K ...` (server/worker/analyze_command.h). Exit
// code 0: OUT is the answer; 1: R says why not, as StatusToJson writes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "server/os/child_run.h"
#include "server/os/clock.h"
#include "server/os/file_store.h"
#include "server/os/id_source.h"
#include "server/os/process.h"

namespace sm89 {

struct AnalysisJob {
  std::string kind;    // "info", "dis", ..., "mma-layout"
  std::string format;  // "text", "json", "svg"
  // The code: bytes, or the path of a file (a program package, too). Neither for mma-layout.
  std::string image;
  std::string image_path;
  std::string module, function;
  uint32_t arch = 0;  // 0 = a program's own, else 89
  std::string ptx;    // text beside the code; empty = what the image holds
  uint32_t threads = 0;
  uint64_t dynamic_shared_bytes = 0;
  std::string shape, type;
};

struct AnalysisRunnerOptions {
  std::string worker_program;
  std::string ptxas;  // path; empty = PTX is refused
  std::string scratch_dir;
  uint64_t memory_bytes = 0;
  uint64_t wall_seconds = 0;
  uint64_t answer_bytes_max = 0;
};

// What a child wrote. Removes it at the end.
class AnalysisAnswer {
 public:
  AnalysisAnswer(FileStore& files, std::string folder, std::unique_ptr<ReadableFile> file)
      : files_(files), folder_(std::move(folder)), file_(std::move(file)) {}
  ~AnalysisAnswer();
  AnalysisAnswer(const AnalysisAnswer&) = delete;
  AnalysisAnswer& operator=(const AnalysisAnswer&) = delete;

  const ReadableFile& file() const { return *file_; }

 private:
  FileStore& files_;
  const std::string folder_;
  const std::unique_ptr<ReadableFile> file_;
};

// Thread-safe.
class AnalysisRunner {
 public:
  AnalysisRunner(FileStore& files, const Clock& clock, IdSource& ids, ProcessLauncher& processes,
                 AnalysisRunnerOptions options)
      : files_(files), clock_(clock), ids_(ids), processes_(processes), options_(std::move(options)) {}

  // Blocks until the child has ended. RESOURCE_EXHAUSTED names the bound that was met, CANCELLED when
  // `cancel` came; else the child's own error.
  absl::StatusOr<std::unique_ptr<AnalysisAnswer>> Run(const AnalysisJob& job, ChildCancel& cancel);

 private:
  absl::Status RunIn(const std::string& folder, const AnalysisJob& job, ChildCancel& cancel);
  absl::StatusOr<ProcessSpec> SpecFor(const AnalysisJob& job, const std::string& folder);
  absl::Status Judge(const ChildEnd& end, const std::string& folder);
  absl::Status ErrorOf(const std::string& folder);

  FileStore& files_;
  const Clock& clock_;
  IdSource& ids_;
  ProcessLauncher& processes_;
  const AnalysisRunnerOptions options_;
};

}  // namespace sm89
