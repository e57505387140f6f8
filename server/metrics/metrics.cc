#include "server/metrics/metrics.h"

#include <prometheus/collectable.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <mutex>

#include "server/metrics/live_collector.h"

namespace sm89 {

// The groups, and the collection of everything at once.
class Metrics::Impl : public prometheus::Collectable {
 public:
  explicit Impl(const MetricsSetup& setup)
      : jobs(registry_),
        workers(registry_),
        uploads(registry_),
        rpcs(registry_, setup.rpc_methods),
        simulation(registry_, setup.statistics),
        store(registry_) {
    prometheus::BuildGauge()
        .Name("sm89_build_info")
        .Help("Always 1; the labels say which build this is.")
        .Register(registry_)
        .Add({{"version", setup.version}, {"model_version", setup.model_version}, {"build", setup.build}})
        .Set(1);
  }

  std::vector<prometheus::MetricFamily> Collect() const override {
    std::vector<prometheus::MetricFamily> families = registry_.Collect();
    {
      const std::lock_guard<std::mutex> lock(source_mutex_);
      if (source_) AppendLiveState(source_(), families);
    }
    AppendSimulation(simulation.live(), families);
    AppendProcess(families);
    return families;
  }

  void SetSource(std::function<LiveState()> source) {
    const std::lock_guard<std::mutex> lock(source_mutex_);
    source_ = std::move(source);
  }

 private:
  prometheus::Registry registry_{prometheus::Registry::InsertBehavior::Throw};
  mutable std::mutex source_mutex_;  // held while the source runs
  std::function<LiveState()> source_;

 public:
  JobMetrics jobs;
  WorkerMetrics workers;
  UploadMetrics uploads;
  RpcMetrics rpcs;
  SimulationMetrics simulation;
  StoreMetrics store;
};

Metrics::Metrics(const MetricsSetup& setup) : impl_(std::make_shared<Impl>(setup)) {}
Metrics::~Metrics() = default;

JobMetrics& Metrics::jobs() { return impl_->jobs; }
WorkerMetrics& Metrics::workers() { return impl_->workers; }
UploadMetrics& Metrics::uploads() { return impl_->uploads; }
RpcMetrics& Metrics::rpcs() { return impl_->rpcs; }
SimulationMetrics& Metrics::simulation() { return impl_->simulation; }
StoreMetrics& Metrics::store() { return impl_->store; }

void Metrics::SetLiveStateSource(std::function<LiveState()> source) { impl_->SetSource(std::move(source)); }

std::string Metrics::Text() const { return prometheus::TextSerializer().Serialize(impl_->Collect()); }

std::shared_ptr<prometheus::Collectable> Metrics::collectable() const { return impl_; }

}  // namespace sm89
