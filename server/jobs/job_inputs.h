// What the job manager needs to know of traces and configurations, without knowing their stores.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/jobs/job_types.h"
#include "server/store/database.h"

namespace sm89 {

struct ResolvedInputs {
  JobInputs inputs;
  uint32_t kernel_count = 0;
};

class JobInputSource {
 public:
  virtual ~JobInputSource() = default;
  // Checks that the trace is there and READY and that the configuration with its overrides resolves.
  // NOT_FOUND, FAILED_PRECONDITION (trace not ready), INVALID_ARGUMENT with the configuration's faults.
  // May take a while: never called under the manager's lock.
  virtual absl::StatusOr<ResolvedInputs> Resolve(const JobSpec& spec) = 0;
  // Inside the transaction that accepts the job: the trace is still there and still the one that was
  // resolved.
  virtual absl::Status Recheck(Transaction& tx, const JobSpec& spec, const JobInputs& inputs) = 0;
  // Path of the trace on this machine, at dispatch. Quick. FAILED_PRECONDITION when it is gone.
  virtual absl::StatusOr<std::string> TracePath(const JobInputs& inputs) = 0;
};

}  // namespace sm89
