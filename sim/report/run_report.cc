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

std::vector<PcReport> PcReports(std::span<const StaticInst> code, const PcProfile& profile) {
  std::vector<PcReport> rows;
  rows.reserve(code.size());
  for (size_t id = 0; id < code.size(); ++id) {
    rows.push_back({code[id].pc, code[id].opcode, code[id].source_line,
                    id < profile.size() ? profile[id] : PcCounters{}});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const PcReport& a, const PcReport& b) { return a.pc < b.pc; });
  return rows;
}

}  // namespace sm89
