#include "sim/tools/sim_errors.h"

#include <ostream>
#include <vector>

namespace sm89 {

void PrintError(std::string_view program, const absl::Status& status, std::ostream& err) {
  const std::vector<Fault> faults = FaultsOf(status);
  if (faults.empty()) {
    err << program << ": error: " << Sv(status.message()) << "\n";
    return;
  }
  for (const Fault& fault : faults) err << program << ": error: " << FormatFault(fault) << "\n";
}

}  // namespace sm89
