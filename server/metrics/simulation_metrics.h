// What the running simulations do, summed over jobs: cycles, instructions, and the statistics that their
// tables mark kService. The reports of one attempt become steps of counters that never go back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "sim/stats/stat.h"

namespace prometheus {
class Counter;
class Registry;
}  // namespace prometheus

namespace sm89 {

// Names one run of one job. Only a key: it never becomes a label.
struct SimulatedAttempt {
  std::string job_id;
  uint32_t attempt = 0;
  friend auto operator<=>(const SimulatedAttempt&, const SimulatedAttempt&) = default;
};

struct IntervalStatistic {
  std::string_view name;  // StatDef::name
  uint64_t value = 0;     // since the attempt's previous report
};

struct AttemptReport {
  uint64_t cycles = 0;             // since the attempt began
  uint64_t warp_instructions = 0;  // since the attempt began
  double warp_instructions_per_second = 0;
  std::span<const IntervalStatistic> interval;
};

class SimulationMetrics {
 public:
  SimulationMetrics(prometheus::Registry& registry, std::span<const StatDef> statistics);

  // A new attempt counts from 0. One that came back after a daemon restart was counted before: its first
  // report after `reattached` only sets where counting goes on.
  void AttemptStarted(const SimulatedAttempt& key, bool reattached = false);
  // A report that is not newer than the last one (no cycle more) adds nothing; so a repeated heartbeat is
  // harmless. Reports of an attempt that was not started, or has ended, are ignored.
  void AttemptProgress(const SimulatedAttempt& key, const AttemptReport& report);
  // However it ended. Give the final report to AttemptProgress first.
  void AttemptEnded(const SimulatedAttempt& key);

  struct Live {
    double warp_instructions_per_second = 0;  // sum over running attempts
    double ipc = 0;                           // their instructions over their cycles; 0 when none runs
  };
  Live live() const;

 private:
  struct Attempt {
    bool has_baseline = true;
    uint64_t cycles = 0;
    uint64_t warp_instructions = 0;
    double warp_instructions_per_second = 0;
  };

  prometheus::Counter* cycles_;
  prometheus::Counter* warp_instructions_;
  std::unordered_map<std::string, prometheus::Counter*> statistics_;  // by StatDef::name; fixed at start
  mutable std::mutex mutex_;                                          // guards attempts_
  std::map<SimulatedAttempt, Attempt> attempts_;
};

}  // namespace sm89
