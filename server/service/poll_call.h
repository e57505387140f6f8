// WorkerService.Poll: waits in the job manager until there is work, the manager's wait is over, or the worker
// went away. Include in .cc files only.
#pragma once

#include <grpcpp/grpcpp.h>

#include <string>

#include "server/jobs/job_manager.h"
#include "server/os/executor.h"
#include "sm89/v1/worker.pb.h"

namespace sm89 {

// The reactor deletes itself. `response` lives until it finishes.
grpc::ServerUnaryReactor* StartPoll(JobManager& jobs, Executor& executor, const std::string& session,
                                    v1::PollResponse* response);

}  // namespace sm89
