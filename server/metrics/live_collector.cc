#include "server/metrics/live_collector.h"

namespace sm89 {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;

ClientMetric GaugeSample(double value) {
  ClientMetric metric;
  metric.gauge.value = value;
  return metric;
}

MetricFamily Gauge(const std::string& name, const std::string& help, double value) {
  return {name, help, prometheus::MetricType::Gauge, {GaugeSample(value)}};
}

template <class Enum, size_t N>
MetricFamily GaugeByState(const std::string& name, const std::string& help,
                          const std::array<uint64_t, N>& values) {
  MetricFamily family{name, help, prometheus::MetricType::Gauge, {}};
  for (size_t i = 0; i < N; ++i) {
    ClientMetric metric = GaugeSample(static_cast<double>(values[i]));
    metric.label.push_back({"state", std::string(Name(static_cast<Enum>(i)))});
    family.metric.push_back(std::move(metric));
  }
  return family;
}

}  // namespace

void AppendLiveState(const LiveState& state, std::vector<MetricFamily>& out) {
  out.push_back(GaugeByState<JobStateLabel>("sm89_jobs", "Jobs in each state.", state.jobs));
  out.push_back(GaugeByState<WorkerStateLabel>("sm89_workers", "Workers in each state.", state.workers));
  const auto queued = state.jobs[static_cast<size_t>(JobStateLabel::kQueued)];
  out.push_back(Gauge("sm89_queue_length", "Jobs that wait for a worker.", static_cast<double>(queued)));
  out.push_back(Gauge("sm89_queue_oldest_age_seconds",
                      "How long the job that waits longest has been in the queue; 0 when none waits.",
                      state.oldest_queued_age_seconds));
  out.push_back(Gauge("sm89_watchers", "Open watch streams.", static_cast<double>(state.watchers)));
  out.push_back(Gauge("sm89_uploads_open", "Uploads that have begun and not ended.",
                      static_cast<double>(state.uploads_open)));
  out.push_back(Gauge("sm89_traces", "Traces held.", static_cast<double>(state.traces)));
  out.push_back(Gauge("sm89_store_bytes", "Bytes that the store holds on disk.",
                      static_cast<double>(state.store_bytes)));
  out.push_back(Gauge("sm89_store_free_bytes", "Bytes left to the daemon on the store's file system.",
                      static_cast<double>(state.store_free_bytes)));
  out.push_back(Gauge("sm89_draining", "1 while the daemon gives out no new work.", state.draining ? 1 : 0));
}

void AppendSimulation(const SimulationMetrics::Live& live, std::vector<MetricFamily>& out) {
  out.push_back(Gauge("sm89_simulation_warp_instructions_per_second",
                      "Host speed: simulated warp instructions a second, over all running jobs.",
                      live.warp_instructions_per_second));
  out.push_back(Gauge("sm89_simulation_ipc",
                      "Simulated warp instructions a cycle of the running jobs so far; 0 when none runs.",
                      live.ipc));
}

}  // namespace sm89
