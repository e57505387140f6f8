#include "server/metrics/store_metrics.h"

#include "server/metrics/families.h"

namespace sm89 {

StoreMetrics::StoreMetrics(prometheus::Registry& registry)
    : commit_seconds_(
          &prometheus::BuildHistogram()
               .Name("sm89_store_commit_duration_seconds")
               .Help("Time of one database commit, with its wait for the disk.")
               .Register(registry)
               .Add({}, std::vector<double>{0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10})),
      commit_failures_(MakeCounter(registry, "sm89_store_commit_failures_total",
                                   "Database commits that failed (disk full, locked, I/O error).")) {}

void StoreMetrics::Committed(double seconds) { commit_seconds_->Observe(seconds < 0 ? 0 : seconds); }
void StoreMetrics::CommitFailed() { commit_failures_->Increment(); }

}  // namespace sm89
