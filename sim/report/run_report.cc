#include "sim/report/run_report.h"

#include <algorithm>

namespace sm89 {

std::string_view Name(RunStatus status) {
  switch (status) {
    case RunStatus::kComplete:
      return "complete";
    case RunStatus::kCycleLimit:
      return "cycle_limit";
    case RunStatus::kCancelled:
      return "cancelled";
    case RunStatus::kRunning:
      return "running";
    case RunStatus::kDeadlock:
      return "deadlock";
  }
  return "?";
}

bool IsComplete(const RunReport& report) {
  if (report.status != RunStatus::kComplete) return false;
  return std::all_of(report.kernels.begin(), report.kernels.end(),
                     [](const KernelReport& k) { return k.finished && k.info.complete; });
}

}  // namespace sm89
