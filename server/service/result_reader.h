// A job's result as the sequence of messages that GetResult streams. Reads the blob store piece by piece.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/jobs/job_types.h"
#include "server/store/blob_store.h"
#include "sm89/v1/job.pb.h"

namespace sm89 {

class ResultReader {
 public:
  // `asked`: names of artifacts. NOT_FOUND naming one that the result does not have.
  static absl::StatusOr<std::unique_ptr<ResultReader>> Open(BlobStore& blobs, const std::string& job_name,
                                                            const JobResult& result,
                                                            const std::vector<std::string>& asked);

  // The next message; nothing after the last. DATA_LOSS when what is stored does not parse.
  absl::StatusOr<bool> Next(v1::ResultChunk* chunk);

 private:
  struct Source {
    std::string name;
    std::unique_ptr<ReadableFile> file;
  };
  ResultReader(std::string job_name, std::vector<ArtifactRef> shown)
      : job_name_(std::move(job_name)), shown_(std::move(shown)) {}
  absl::Status NextTyped(v1::ResultChunk* chunk);
  absl::Status NextArtifact(v1::ResultChunk* chunk);

  const std::string job_name_;
  const std::vector<ArtifactRef> shown_;
  std::deque<Source> sources_;  // the typed result first
  bool typed_ = true;           // the front source is the typed result
  uint64_t offset_ = 0;         // in the front source
};

}  // namespace sm89
