// Reads an upload in a child process, so that whatever the bytes do to the reader they do to the child only.
//
// The child is `WORKER ingest --input F --output OUT --result R [--foreign-arch] [--allow-partial]
// [--unknown-as-nop] [--ptxas PATH] --max-unpacked-bytes N` (server/worker/ingest_command.h). It writes R,
// one JSON object:
//   {"ok":true,"digest":..,"file_bytes":..,"kernels":..,"warp_instructions":..,"thread_instructions":..,
//    "memcpy_h2d_bytes":..,"marks":[text..],"warnings":[text..]}
//   {"ok":false,"status":{..StatusToJson..}}
// Private to server/traces.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "server/os/child_run.h"
#include "server/os/clock.h"
#include "server/os/file_store.h"
#include "server/os/id_source.h"
#include "server/os/process.h"
#include "server/traces/trace_types.h"

namespace sm89 {

using IngestCancel = ChildCancel;

struct IngestJob {
  std::string input;  // path; its name tells the packing
  TraceOptions options;
};

struct IngestOutcome {
  enum class Kind : uint8_t {
    kReady,    // `output` is the compact file (of a program: its package), `content` describes it (blob and
               // stored_bytes not yet set)
    kRefused,  // the input's fault: `error`
    kOurs,     // not the input's fault, so worth another try: `error`
    kCancelled,
  };
  Kind kind = Kind::kOurs;
  absl::Status error;
  TraceContent content;
  std::string output;
  std::string folder;  // kReady: holds `output`, to be removed by the caller
};

struct IngestRunnerOptions {
  std::string worker_program;
  std::string ptxas;  // path of the PTX compiler; empty = none
  std::string scratch_dir;
  uint64_t max_unpacked_bytes = 0;
  uint64_t memory_bytes = 0;
  uint64_t wall_seconds = 0;
  uint64_t min_free_bytes = 0;
};

// Exit codes of the child beside 0 (result says ok) and 1 (result says why not).
inline constexpr int kIngestExitNoResult = 2;  // it could not write one
inline constexpr int kIngestExitOutOfMemory = 4;

// Thread-safe.
class IngestRunner {
 public:
  IngestRunner(FileStore& files, const Clock& clock, IdSource& ids, ProcessLauncher& processes,
               IngestRunnerOptions options)
      : files_(files), clock_(clock), ids_(ids), processes_(processes), options_(std::move(options)) {}

  // Blocks until the child has ended. Leaves nothing in the scratch folder but the outcome's folder.
  IngestOutcome Run(const IngestJob& job, IngestCancel& cancel);

 private:
  IngestOutcome RunIn(const std::string& folder, const IngestJob& job, IngestCancel& cancel);
  ProcessSpec SpecFor(const IngestJob& job, const std::string& folder) const;
  IngestOutcome Judge(const ChildEnd& end, const std::string& folder);
  IngestOutcome ReadResult(const std::string& folder);
  std::string LastWords(const std::string& folder);

  FileStore& files_;
  const Clock& clock_;
  IdSource& ids_;
  ProcessLauncher& processes_;
  const IngestRunnerOptions options_;
};

}  // namespace sm89
