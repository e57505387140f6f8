// Sees every committed change, for metrics. Called under the manager's lock: must be quick and must not call
// the manager.
#pragma once

#include "server/jobs/job_types.h"

namespace sm89 {

class JobObserver {
 public:
  virtual ~JobObserver() = default;
  virtual void OnSubmitted(const Job& job) = 0;
  // State, labels or priority; `queued_seconds`: how long it waited when it left the queue, else 0.
  virtual void OnChanged(const Job& before, const Job& after, double queued_seconds) = 0;
  virtual void OnProgress(const Job& job, const JobProgress& progress) = 0;
  // A worker came back with the attempt it held before the daemon restarted.
  virtual void OnReattached(const Job& job) = 0;
};

}  // namespace sm89
