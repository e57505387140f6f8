// WorkerService.WriteArtifact: bytes into the blob store, one read at a time. Include in .cc files only.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>

#include "server/jobs/job_manager.h"
#include "server/os/executor.h"
#include "server/store/blob_store.h"
#include "sm89/v1/worker.pb.h"

namespace sm89 {

struct ArtifactDeps {
  JobManager& jobs;
  BlobStore& blobs;
  Executor& executor;
  uint64_t bytes_max;
};

// The reactor deletes itself. `response` lives until it finishes.
grpc::ServerReadReactor<v1::WriteArtifactRequest>* StartArtifact(const ArtifactDeps& deps,
                                                                 v1::WriteArtifactResponse* response);

}  // namespace sm89
