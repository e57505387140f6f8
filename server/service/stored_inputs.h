// The job manager's view of the trace and configuration stores.
#pragma once

#include <string>

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
  absl::StatusOr<InputPaths> Paths(const JobInputs& inputs) override;

 private:
  // `field` is the part of the specification that names it: "trace", "sass[0]".
  absl::StatusOr<TraceRecord> GetTrace(const std::string& id, const std::string& field);
  absl::StatusOr<CodeInput> ResolveCode(const std::string& id, const std::string& field);
  absl::Status RecheckOne(Transaction& tx, const std::string& id, const std::string& field,
                          const std::string& blob);
  absl::StatusOr<std::string> PathOf(const std::string& blob, const std::string& field,
                                     const std::string& display_name);

  TraceManager& traces_;
  ConfigStore& configs_;
  BlobStore& blobs_;
};

}  // namespace sm89
