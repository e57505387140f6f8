// What the memory checker met, on standard error.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace sm89 {

inline constexpr uint64_t kShownFindings = 10;  // of a case; JSON results have more

// One line a finding, "PROGRAM: CASE: warning: ...", then how many more there were. The one that ended the
// launch is `status` and printed as the error that it is, not here.
void PrintFindings(std::string_view program, const std::string& case_id,
                   const std::vector<std::string>& findings, uint64_t total, const absl::Status& status,
                   std::ostream& err);

}  // namespace sm89
