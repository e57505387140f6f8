// How the stand-alone programs print what is wrong with an input.
#pragma once

#include <iosfwd>
#include <string_view>

#include "absl/status/status.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"

namespace sm89 {

// One line a fault, "PROGRAM: error: FILE:LINE: MESSAGE (...)", so that editors can jump to it; all of them.
void PrintError(std::string_view program, const absl::Status& status, std::ostream& err);

}  // namespace sm89
