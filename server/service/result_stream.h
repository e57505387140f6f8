// JobService.GetResult: the typed result, then the artifacts that were asked for, one write in flight.
// Include in .cc files only.
#pragma once

#include <grpcpp/grpcpp.h>

#include "server/jobs/job_manager.h"
#include "server/os/executor.h"
#include "server/store/blob_store.h"
#include "sm89/v1/job.pb.h"

namespace sm89 {

// The reactor deletes itself.
grpc::ServerWriteReactor<v1::ResultChunk>* StartResult(JobManager& jobs, BlobStore& blobs, Executor& executor,
                                                       const v1::GetResultRequest& request);

}  // namespace sm89
