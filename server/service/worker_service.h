// sm89.v1.WorkerService: the daemon's side of the worker protocol. Served on the workers' own socket only,
// and every call needs a ticket (160 random bits, handed to the worker by its environment) or the session it
// gave.
#pragma once

#include <cstdint>
#include <memory>

#include "server/jobs/job_manager.h"
#include "server/os/executor.h"
#include "server/store/blob_store.h"

namespace grpc {
class Service;
}

namespace sm89 {

struct WorkerServiceDeps {
  JobManager& jobs;
  BlobStore& blobs;
  Executor& executor;  // of its own, so that no client can keep heartbeats waiting
  uint64_t artifact_bytes_max = 0;
};
std::unique_ptr<grpc::Service> MakeWorkerService(const WorkerServiceDeps& deps);

}  // namespace sm89
