// From the protocol's request to the analysis, checked.
#pragma once

#include "absl/status/statusor.h"
#include "server/analysis/analysis_runner.h"
#include "sm89/v1/analysis.pb.h"

namespace sm89 {

// Everything but the code that a trace name stands for. INVALID_ARGUMENT names the field.
absl::StatusOr<AnalysisJob> JobFromMessage(const v1::AnalyzeRequest& request);

}  // namespace sm89
