// The job manager's view of the trace and configuration stores.
#pragma once

#include "server/jobs/job_inputs.h"
#include "server/store/blob_store.h"
#include "server/store/config_store.h"
#include "server/traces/trace_manager.h"

namespace sm89 {

class StoredInputs final : public JobInputSource {
 public:
  StoredInputs(TraceManager& traces, ConfigStore& configs, BlobStore& blobs)
      : traces_(traces), configs_(configs), blobs_(blobs) {}

  absl::StatusOr<ResolvedInputs> Resolve(const JobSpec& spec) override;
  absl::Status Recheck(Transaction& tx, const JobSpec& spec, const JobInputs& inputs) override;
  absl::StatusOr<std::string> TracePath(const JobInputs& inputs) override;

 private:
  TraceManager& traces_;
  ConfigStore& configs_;
  BlobStore& blobs_;
};

}  // namespace sm89
