// What the job manager, the pool and the trace manager tell of themselves, as Prometheus metrics.
#pragma once

#include "server/jobs/job_observer.h"
#include "server/metrics/metrics.h"
#include "server/pool/local_pool.h"
#include "server/traces/trace_observer.h"

namespace sm89 {

class MetricsBridge final : public JobObserver, public PoolObserver {
 public:
  explicit MetricsBridge(Metrics& metrics) : metrics_(metrics) {}

  // While jobs of an earlier daemon are taken up: what is queued again is so because of the restart.
  void SetRecovering(bool recovering) { recovering_ = recovering; }

  void OnSubmitted(const Job& job) override;
  void OnChanged(const Job& before, const Job& after, double queued_seconds) override;
  void OnProgress(const Job& job, const JobProgress& progress) override;
  void OnReattached(const Job& job) override;

  void OnWorkerStarted(bool replaces_another) override;
  void OnWorkerEnded(WorkerEnd how) override;
  void OnWorkerReattached() override;
  void OnLeaseExpired() override;

 private:
  Metrics& metrics_;
  bool recovering_ = false;  // written before anything else runs
};

class TraceMetricsBridge final : public TraceObserver {
 public:
  explicit TraceMetricsBridge(Metrics& metrics) : metrics_(metrics) {}

  void UploadStarted() override;
  void UploadDeduplicated() override;
  void BytesReceived(uint64_t bytes) override;
  void UploadStored() override;
  void UploadFailed(UploadFailureKind kind) override;
  void TraceRefused(const absl::Status& error) override;

 private:
  Metrics& metrics_;
};

}  // namespace sm89
