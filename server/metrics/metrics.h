// Everything that /metrics shows. One object owns every metric family and makes them all in its
// constructor; the typed groups below are what the rest of the daemon calls. Label values come from enums
// or from fixed tables, never from a job, a user, a trace or a peer: the number of series is fixed at start,
// except that an RPC status code appears with its first use (at most methods x 17).
//
// Thread-safe. None of the calls blocks on anything but short locks, so reactors may use them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "server/metrics/job_metrics.h"
#include "server/metrics/live_state.h"
#include "server/metrics/rpc_metrics.h"
#include "server/metrics/simulation_metrics.h"
#include "server/metrics/store_metrics.h"
#include "server/metrics/upload_metrics.h"
#include "server/metrics/worker_metrics.h"
#include "sim/stats/stat.h"

namespace prometheus {
class Collectable;
}

namespace sm89 {

struct MetricsSetup {
  std::string version;  // labels of sm89_build_info
  std::string model_version;
  std::string build;
  std::vector<RpcMethod> rpc_methods;
  // Statistics with exported == kService become counters. The daemon passes AllStatDefs().
  std::span<const StatDef> statistics;
};

class Metrics {
 public:
  explicit Metrics(const MetricsSetup& setup);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  JobMetrics& jobs();
  WorkerMetrics& workers();
  UploadMetrics& uploads();
  RpcMetrics& rpcs();
  SimulationMetrics& simulation();
  StoreMetrics& store();

  // `source` is called at every scrape, on the scraper's thread. An empty one takes it away again; that
  // call returns only when no scrape is inside the old source, so what the source uses may then go.
  void SetLiveStateSource(std::function<LiveState()> source);

  // The exposition text, as /metrics gives it.
  std::string Text() const;
  std::shared_ptr<prometheus::Collectable> collectable() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace sm89
