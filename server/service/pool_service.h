// sm89.v1.PoolService: workers, drain, resume, what the daemon is.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/jobs/job_manager.h"
#include "server/os/executor.h"

namespace grpc {
class Service;
}

namespace sm89 {

// What does not change while the daemon runs.
struct DaemonFacts {
  std::string version;
  std::string model_version;
  std::string build;
  int64_t start_unix_nanos = 0;
  std::string metrics_address;
  std::vector<std::pair<std::string, std::string>> limits;
};

struct PoolServiceDeps {
  JobManager& jobs;
  Executor& executor;
  DaemonFacts facts;
  std::function<uint64_t()> trace_count;
  std::function<uint64_t()> store_bytes;
};
std::unique_ptr<grpc::Service> MakePoolService(PoolServiceDeps deps);

}  // namespace sm89
