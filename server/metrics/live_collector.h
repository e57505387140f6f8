// Gauges that are read at the scrape: states of jobs and workers, queue, store, speed, this process.
// Internal to server/metrics.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

#include "server/metrics/live_state.h"
#include "server/metrics/simulation_metrics.h"

namespace sm89 {

// Appends the families of `state`.
void AppendLiveState(const LiveState& state, std::vector<prometheus::MetricFamily>& out);
void AppendSimulation(const SimulationMetrics::Live& live, std::vector<prometheus::MetricFamily>& out);
// process_* under their usual names, from /proc/self; what cannot be read is left out.
void AppendProcess(std::vector<prometheus::MetricFamily>& out);

}  // namespace sm89
