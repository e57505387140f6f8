#include "sim/tools/findings_text.h"

#include <ostream>

#include "sim/base/strings.h"

namespace sm89 {

void PrintFindings(std::string_view program, const std::string& case_id,
                   const std::vector<std::string>& findings, uint64_t total, const absl::Status& status,
                   std::ostream& err) {
  uint64_t said = 0;
  uint64_t shown = 0;
  for (const std::string& finding : findings) {
    const bool is_error = !status.ok() && Sv(status.message()) == finding;
    if (!is_error && shown == kShownFindings) continue;
    ++said;
    if (is_error) continue;
    ++shown;
    err << program << ": " << case_id << ": warning: " << finding << "\n";
  }
  if (total <= said) return;
  err << program << ": " << case_id << ": warning: " << total - said
      << " more findings of the memory checker\n";
}

}  // namespace sm89
