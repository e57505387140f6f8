// What the job manager needs to know of traces and configurations, without knowing their stores.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/jobs/job_types.h"
#include "server/store/database.h"

namespace sm89 {

struct ResolvedInputs {
  JobInputs inputs;
  uint32_t kernel_count = 0;
};

// On this machine.
struct InputPaths {
  std::string trace;
  std::vector<std::string> sass = {};  // of JobInputs::sass
};

class JobInputSource {
 public:
  virtual ~JobInputSource() = default;
  // Checks that the trace is there and READY and that the configuration with its overrides resolves.
  // NOT_FOUND, FAILED_PRECONDITION (trace not ready), INVALID_ARGUMENT with the configuration's faults.
  // May take a while: never called under the manager's lock.
  virtual absl::StatusOr<ResolvedInputs> Resolve(const JobSpec& spec) = 0;
  // Inside the transaction that accepts the job: trace and machine code are still there and still what was
  // resolved.
  virtual absl::Status Recheck(Transaction& tx, const JobSpec& spec, const JobInputs& inputs) = 0;
  // Paths of the inputs, at dispatch. Quick. FAILED_PRECONDITION when one is gone.
  virtual absl::StatusOr<InputPaths> Paths(const JobInputs& inputs) = 0;
};

}  // namespace sm89
