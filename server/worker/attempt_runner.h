// Runs one assignment through the simulator. No gRPC.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "server/os/clock.h"
#include "server/worker/finished_artifact.h"
#include "server/worker/worker_fault.h"
#include "sm89/v1/worker.pb.h"

namespace sm89 {

struct AttemptOutcome {
  // Exactly one of: OK with a result; CANCELLED (`stop` was set); any other error = the job's failure.
  absl::Status status;
  v1::Result summary;
  std::vector<FinishedArtifact> artifacts;
  std::optional<v1::Progress> final_progress;
};

using ProgressSink = std::function<void(v1::Progress)>;

class AttemptRunner {
 public:
  AttemptRunner(const Clock& clock, WorkerFault fault) : clock_(clock), fault_(fault) {}
  // Looks at `stop` at least every 100 ms or so of work.
  AttemptOutcome Run(const v1::Assignment& assignment, const std::atomic<bool>& stop,
                     const ProgressSink& sink);

 private:
  const Clock& clock_;
  const WorkerFault fault_;
};

}  // namespace sm89
