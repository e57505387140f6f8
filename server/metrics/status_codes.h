// Canonical status codes as label values. Internal to server/metrics.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "server/metrics/job_metrics.h"

namespace sm89 {

// "OK", "INVALID_ARGUMENT", ...
inline std::string CodeName(size_t code) {
  return absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
}

// A code outside the canonical range (another implementation may send any number) counts as UNKNOWN.
inline size_t CodeIndex(absl::StatusCode code) {
  const auto index = static_cast<size_t>(code);
  return index < kNumStatusCodes ? index : static_cast<size_t>(absl::StatusCode::kUnknown);
}

}  // namespace sm89
