// sm89.v1.JobService: messages to the job manager and back, nothing else.
#pragma once

#include <memory>

#include "server/jobs/job_manager.h"
#include "server/os/executor.h"
#include "server/store/blob_store.h"

namespace grpc {
class Service;
}

namespace sm89 {

// All must outlive the server that the service is registered with.
struct JobServiceDeps {
  JobManager& jobs;
  BlobStore& blobs;
  Executor& executor;
};
std::unique_ptr<grpc::Service> MakeJobService(const JobServiceDeps& deps);

}  // namespace sm89
