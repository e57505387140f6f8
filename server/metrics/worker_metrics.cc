#include "server/metrics/worker_metrics.h"

#include "server/metrics/families.h"

namespace sm89 {

WorkerMetrics::WorkerMetrics(prometheus::Registry& registry)
    : starts_(MakeCounter(registry, "sm89_worker_starts_total", "Worker processes started.")),
      restarts_(MakeCounter(registry, "sm89_worker_restarts_total",
                            "Worker processes started to replace one that ended unasked.")),
      reattaches_(MakeCounter(registry, "sm89_worker_reattaches_total",
                              "Workers that came back with their session after a broken connection.")),
      exits_(MakeCounters<WorkerExitLabel, kNumWorkerExitLabels>(
          registry, "sm89_worker_exits_total", "Worker processes that ended, by how.", "how")) {}

void WorkerMetrics::Started() { starts_->Increment(); }
void WorkerMetrics::Exited(WorkerExitLabel how) { exits_[static_cast<size_t>(how)]->Increment(); }
void WorkerMetrics::Restarted() { restarts_->Increment(); }
void WorkerMetrics::Reattached() { reattaches_->Increment(); }

}  // namespace sm89
