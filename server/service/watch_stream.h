// JobService.WatchJob: one write in flight; what happens meanwhile is folded together by the watcher's slot.
// Include in .cc files only.
#pragma once

#include <grpcpp/grpcpp.h>

#include "server/jobs/job_manager.h"
#include "server/os/executor.h"
#include "sm89/v1/job.pb.h"

namespace sm89 {

// The reactor deletes itself.
grpc::ServerWriteReactor<v1::JobUpdate>* StartWatch(JobManager& jobs, Executor& executor,
                                                    const v1::WatchJobRequest& request);

}  // namespace sm89
