// PTX to a cubin through the toolkit's own assembler, when it is there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace sm89 {

// True for PTX text: comments, then a ".version" directive.
bool LooksLikePtx(std::string_view bytes);

struct PtxasOptions {
  std::string program;          // path of ptxas; empty: looked for on PATH
  uint32_t wall_seconds = 120;  // then it is killed
};

// The cubin that `ptxas --gpu-name sm_ARCH -lineinfo` makes of `ptx`. FAILED_PRECONDITION: ptxas is not there
// (says what to install). INVALID_ARGUMENT: what ptxas said of the text. `name` is used in messages.
absl::StatusOr<std::string> CompilePtx(std::string_view ptx, const std::string& name, uint32_t arch,
                                       const PtxasOptions& options = {});

}  // namespace sm89
