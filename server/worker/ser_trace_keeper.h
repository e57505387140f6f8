// Writes the reordering stage's decisions into a file of the attempt as they are made.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/os/file_store.h"
#include "server/worker/finished_artifact.h"
#include "sim/report/ser_trace.h"

namespace sm89 {

class SerTraceKeeper {
 public:
  // A file in `folder`, at most `bytes_max` long.
  static absl::StatusOr<std::unique_ptr<SerTraceKeeper>> Create(FileStore& files, const std::string& folder,
                                                                SerTraceFormat format, uint64_t bytes_max);
  SerTraceKeeper(const SerTraceKeeper&) = delete;
  SerTraceKeeper& operator=(const SerTraceKeeper&) = delete;

  void Append(std::span<const SerRecord> records) { writer_.Append(records); }
  // The first error: RESOURCE_EXHAUSTED when the file is full. After it nothing more is kept.
  const absl::Status& status() const { return status_; }
  // Once, when the run is over.
  absl::StatusOr<FinishedArtifact> Finish();

 private:
  SerTraceKeeper(std::shared_ptr<const AttemptFile> file, SerTraceFormat format, uint64_t bytes_max);
  absl::Status Write(std::string_view piece);

  const std::shared_ptr<const AttemptFile> file_;
  const SerTraceFormat format_;
  const uint64_t bytes_max_;
  std::unique_ptr<WritableFile> open_;
  uint64_t bytes_ = 0;
  absl::Status status_;
  SerTraceWriter writer_;
};

}  // namespace sm89
