// The syntax of JobSpec.kernels, checked and brought to one spelling at submit time, so that equal questions
// have equal result-cache keys and a typing mistake is refused before the job is queued.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace sm89 {

inline constexpr size_t kKernelSelectionBytesMax = 4096;

// "3-5, 1,4" -> "1,3-5": ranges sorted and merged. Empty, or all of 1..kernel_count, gives "".
// INVALID_ARGUMENT names the part that does not parse or lies outside 1..kernel_count.
absl::StatusOr<std::string> CanonicalKernelSelection(const std::string& text, uint32_t kernel_count);

}  // namespace sm89
