#include "server/metrics/simulation_metrics.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/log/log.h"
#include "server/metrics/families.h"
#include "sim/base/strings.h"

namespace sm89 {
namespace {

// Far above any pool; a leak of attempts must not become a leak of memory.
constexpr size_t kMaxAttempts = 16'384;
constexpr std::string_view kStallPrefix = "stall_";

// "stall_barrier" -> "barrier"; empty for any other statistic. A unit's prefix ("sm_stall_...") is allowed.
std::string_view StallReason(const StatDef& def) {
  if (def.unit != StatUnit::kCycles && def.unit != StatUnit::kWarps) return {};
  const size_t at = def.name.find(kStallPrefix);
  if (at == std::string_view::npos || (at != 0 && def.name[at - 1] != '_')) return {};
  return def.name.substr(at + kStallPrefix.size());
}

}  // namespace

SimulationMetrics::SimulationMetrics(prometheus::Registry& registry, std::span<const StatDef> statistics)
    : cycles_(MakeCounter(registry, "sm89_simulated_cycles_total", "GPU cycles simulated, over all jobs.")),
      warp_instructions_(MakeCounter(registry, "sm89_simulated_warp_instructions_total",
                                     "Warp instructions simulated, over all jobs.")) {
  auto& stalls = prometheus::BuildCounter()
                     .Name("sm89_sim_stall_warp_cycles_total")
                     .Help("Simulated cycles of resident warps by what they waited for.")
                     .Register(registry);
  for (const StatDef& def : statistics) {
    // A maximum has no meaning as a sum over jobs.
    if (def.exported != StatExport::kService || def.merge != StatMerge::kSum) continue;
    const std::string name(def.name);
    const std::string_view reason = StallReason(def);
    statistics_[name] = reason.empty() ? MakeCounter(registry, absl::StrCat("sm89_sim_", name, "_total"),
                                                     std::string(def.help))
                                       : &stalls.Add({{"reason", std::string(reason)}});
  }
}

void SimulationMetrics::AttemptStarted(const SimulatedAttempt& key, bool reattached) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (attempts_.size() >= kMaxAttempts) {
    Log(LogLevel::kWarn, "metrics_attempts_full", {{"job_id", key.job_id}, {"limit", kMaxAttempts}});
    return;
  }
  attempts_.try_emplace(key, Attempt{.has_baseline = !reattached});
}

void SimulationMetrics::AttemptProgress(const SimulatedAttempt& key, const AttemptReport& report) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = attempts_.find(key);
  if (it == attempts_.end()) return;
  Attempt& attempt = it->second;
  const bool newer = !attempt.has_baseline || report.cycles > attempt.cycles;
  if (!newer) return;
  if (attempt.has_baseline) {
    cycles_->Increment(static_cast<double>(report.cycles - attempt.cycles));
    const uint64_t before = std::min(attempt.warp_instructions, report.warp_instructions);
    warp_instructions_->Increment(static_cast<double>(report.warp_instructions - before));
  }
  attempt.has_baseline = true;
  attempt.cycles = report.cycles;
  attempt.warp_instructions = std::max(attempt.warp_instructions, report.warp_instructions);
  attempt.warp_instructions_per_second = report.warp_instructions_per_second;
  for (const IntervalStatistic& statistic : report.interval) {
    // A worker of a later build may send statistics that this one does not know.
    const auto counter = statistics_.find(std::string(statistic.name));
    if (counter != statistics_.end()) counter->second->Increment(static_cast<double>(statistic.value));
  }
}

void SimulationMetrics::AttemptEnded(const SimulatedAttempt& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  attempts_.erase(key);
}

SimulationMetrics::Live SimulationMetrics::live() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  Live live;
  double cycles = 0;
  double instructions = 0;
  for (const auto& [key, attempt] : attempts_) {
    live.warp_instructions_per_second += attempt.warp_instructions_per_second;
    cycles += static_cast<double>(attempt.cycles);
    instructions += static_cast<double>(attempt.warp_instructions);
  }
  if (cycles > 0) live.ipc = instructions / cycles;
  return live;
}

}  // namespace sm89
