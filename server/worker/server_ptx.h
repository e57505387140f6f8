// PTX on a server: compiled by the ptxas that the daemon found or was told of, else refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace sm89 {

// The cubin for sm_`arch`. `ptxas`: path, empty = there is none: FAILED_PRECONDITION saying what to install
// and what helps without it. `name` is used in messages.
absl::StatusOr<std::string> CompileOnServer(const std::string& ptxas, const std::string& name,
                                            std::string_view text, uint32_t arch);

}  // namespace sm89
