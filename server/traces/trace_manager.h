// Uploads and traces: takes bytes in order, survives restarts, has the upload read by a child process, keeps
// the compact result. No gRPC, no protobuf.
//
// States: UPLOADING -> VALIDATING -> READY or INVALID. An error of ours while validating (disk, process) puts
// the upload back to UPLOADING with all its bytes, so that finalizing again is enough. After a restart an
// upload goes on from its last synced byte, and a validation starts again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/config/server_config.h"
#include "server/os/clock.h"
#include "server/os/file_store.h"
#include "server/os/id_source.h"
#include "server/os/process.h"
#include "server/store/blob_store.h"
#include "server/store/database.h"
#include "server/traces/trace_observer.h"
#include "server/traces/trace_types.h"

namespace sm89 {

// All outlive the manager.
struct TraceDeps {
  FileStore* files = nullptr;
  const Clock* clock = nullptr;
  IdSource* ids = nullptr;
  ProcessLauncher* processes = nullptr;
  Database* db = nullptr;
  BlobStore* blobs = nullptr;
  TraceObserver* observer = nullptr;  // may be null
};

struct TraceManagerOptions {
  UploadSettings limits;
  std::string uploads_dir;
  std::string scratch_dir;
  std::string worker_program;  // run as `PROGRAM ingest ...`
  std::string ptxas;           // path of the PTX compiler for uploaded programs; empty = none
  // Between two sweeps of expired uploads; zero = only when Sweep is called.
  Duration sweep_interval = std::chrono::seconds(60);
};

struct BeginUpload {
  std::string request_id;  // empty = no protection against repeats
  std::string display_name;
  uint64_t size_bytes = 0;
  std::string sha256;
  TraceOptions options;
};
struct BeginUploadAnswer {
  // READY: nothing to upload. INVALID: a repeated request_id whose trace was refused.
  std::optional<TraceRecord> existing;
  std::string upload_id;
  uint64_t committed_bytes = 0;
};

struct TraceFilter {
  std::optional<TraceState> state;
  std::string display_name_part;  // empty = all
};
struct TracePage {
  std::vector<TraceRecord> traces;  // newest first
  int64_t next_before = 0;          // for the next call; 0 = that was all
};

// The bytes of one stream, in order. Calls block on the disk. Not thread-safe. When a newer stream opens the
// same upload, this one gets ABORTED from then on. Destroying it syncs what was written.
class UploadStream {
 public:
  virtual ~UploadStream() = default;
  // OUT_OF_RANGE when offset is not the committed offset (fact "committed_bytes") or the bytes pass the
  // declared size; DATA_LOSS when the checksum (zlib's CRC-32) does not fit; RESOURCE_EXHAUSTED for a long
  // chunk or a full disk. What was committed before stays.
  virtual absl::Status Write(uint64_t offset, std::string_view bytes, uint32_t crc32) = 0;
  // Syncs; gives the committed bytes.
  virtual absl::StatusOr<uint64_t> Finish() = 0;
};

// Thread-safe. Every call may block on the disk: not for gRPC's threads. Streams must be gone before the
// manager.
class TraceManager {
 public:
  static absl::StatusOr<std::unique_ptr<TraceManager>> Create(const TraceDeps& deps,
                                                              const TraceManagerOptions& options);
  // Kills children that read uploads (they start again next time) and answers waiting calls with UNAVAILABLE.
  virtual ~TraceManager() = default;

  // True when a job that has not ended names the trace. Called inside the Write transaction of a delete: ask
  // the database through it, take no lock. Set before serving.
  using InUseCheck = std::function<absl::StatusOr<bool>(Transaction&, const std::string& trace_id)>;
  virtual void SetInUseCheck(InUseCheck check) = 0;

  virtual absl::StatusOr<BeginUploadAnswer> Begin(const BeginUpload& request) = 0;
  virtual absl::StatusOr<std::unique_ptr<UploadStream>> OpenStream(const std::string& id) = 0;
  // An upload or what became of it.
  virtual absl::StatusOr<TraceRecord> Query(const std::string& id) = 0;

  // Gives the READY trace, or why not: INVALID_ARGUMENT etc. of the reader, FAILED_PRECONDITION when bytes
  // are missing. Does not wait for the reading: `done` is called once, from any thread, possibly before
  // Finalize returns. The ticket lets a caller that went away take its callback back (it may be running at
  // that moment).
  using FinalizeCallback = std::function<void(absl::StatusOr<TraceRecord>)>;
  virtual uint64_t Finalize(const std::string& id, FinalizeCallback done) = 0;
  virtual void ForgetFinalize(const std::string& id, uint64_t ticket) = 0;

  virtual absl::Status Abort(const std::string& id) = 0;
  virtual absl::StatusOr<TraceRecord> Get(const std::string& id) = 0;
  // `before`: a page's next_before, 0 = from the newest.
  virtual absl::StatusOr<TracePage> List(const TraceFilter& filter, int64_t before, uint32_t page_size) = 0;
  // An upload is aborted. `etag` empty = any.
  virtual absl::Status Delete(const std::string& id, const std::string& etag) = 0;

  // For a job that is being accepted, inside its Write transaction: the trace, if it is READY, else NOT_FOUND
  // or FAILED_PRECONDITION. Deletes are Write transactions too, so the job's row and the trace cannot miss
  // each other.
  virtual absl::StatusOr<TraceRecord> RequireReady(Transaction& tx, const std::string& id) = 0;

  // Drops uploads that nobody went on with.
  virtual void Sweep() = 0;

  struct Counts {
    uint64_t uploads_open = 0;
    uint64_t traces = 0;  // all states
  };
  virtual Counts counts() = 0;
};

}  // namespace sm89
