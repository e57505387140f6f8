#include "sim/tools/findings_text.h"

#include <ostream>

#include "sim/base/strings.h"

namespace sm89 {

void PrintFindings(std::string_view program, const std::string& case_id,
                   const std::vector<std::string>& findings, uint64_t total, const absl::Status& status,
                   std::ostream& err) {
  for (const std::string& finding : findings) {
    if (!status.ok() && Sv(status.message()) == finding) continue;
    err << program << ": " << case_id << ": warning: " << finding << "\n";
  }
  if (total <= findings.size()) return;
  err << program << ": " << case_id << ": warning: " << total - findings.size()
      << " more findings of the memory checker\n";
}

}  // namespace sm89
