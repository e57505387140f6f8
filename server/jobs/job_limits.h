// Bounds of what a job may ask for.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/jobs/job_types.h"

namespace sm89 {

struct JobLimits {
  uint64_t cycles_default = 0;  // of a job that names none; 0 = to the end
  uint64_t cycles_max = 0;      // 0 = any
  uint64_t memory_default_bytes = uint64_t{4} << 30;
  uint64_t memory_max_bytes = uint64_t{16} << 30;
  uint32_t wall_default_seconds = 24 * 3600;
  uint32_t wall_max_seconds = 7 * 24 * 3600;
  uint32_t threads_max = 1;
};
inline constexpr uint64_t kJobMemoryMinBytes = uint64_t{64} << 20;
inline constexpr size_t kLabelsMax = 16;
inline constexpr size_t kLabelKeyBytesMax = 63;
inline constexpr size_t kLabelValueBytesMax = 255;
inline constexpr size_t kDisplayNameBytesMax = 200;
inline constexpr size_t kOverridesMax = 256;
inline constexpr size_t kOverrideBytesMax = 4096;
inline constexpr size_t kSassMax = 16;
inline constexpr int32_t kPriorityMax = 10;

// All faults at once, INVALID_ARGUMENT. Fills in defaults where the spec says 0.
absl::Status CheckAndCompleteSpec(const JobLimits& limits, JobSpec* spec);
// The part of it that UpdateJob needs.
absl::Status CheckLabelsAndPriority(const JobSpec& spec);
// "" or a UUID: 8-4-4-4-12 hexadecimal digits.
absl::Status CheckRequestId(const std::string& request_id);

}  // namespace sm89
