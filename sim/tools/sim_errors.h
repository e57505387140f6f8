// How the stand-alone programs print what is wrong with an input.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"

namespace CLI {
class App;
}

namespace sm89 {

// One line a fault, "PROGRAM: error: FILE:LINE: MESSAGE (...)", so that editors can jump to it; all of them.
void PrintError(std::string_view program, const absl::Status& status, std::ostream& err);

// For a word that the parser did not expect behind the one value of an option ("--case a b"): how to give
// more than one, as "; ..." or empty. `args` without the program's name.
std::string RepeatHint(const CLI::App& app, const std::vector<std::string>& args);

}  // namespace sm89
