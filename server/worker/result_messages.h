// From the simulator's values to the protocol's messages.
#pragma once

#include <string>

#include "sim/api/simulator.h"
#include "sim/report/run_report.h"
#include "sm89/v1/job.pb.h"

namespace sm89 {

// The typed result without kernels.
v1::Result ResultSummary(const RunReport& report, const std::string& job);
// The whole typed result as artifact "result.bin" holds it (see worker.proto).
std::string TypedResultBytes(const RunReport& report, const std::string& job);

// Counters of one progress interval: `now` minus `before`.
SimStats IntervalOf(const SimStats& before, const SimStats& now);

// Service-level statistics only. `run` gives the GPU's dimensions.
void AddIntervalStatistics(const SimStats& interval, uint64_t cycles, const RunReport& run,
                           v1::Progress* progress);

// What `waits` says, with the largest reasons of each row. Without a profiled kernel nothing is added.
void AddLiveProfile(const KernelWaits& waits, v1::Progress* progress);

// Protobuf strings must be UTF-8: every byte of a text that is not becomes '?'.
std::string ValidText(const std::string& text);

}  // namespace sm89
