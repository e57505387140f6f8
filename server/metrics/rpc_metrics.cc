#include "server/metrics/rpc_metrics.h"

#include <prometheus/gauge.h>

#include "server/metrics/families.h"
#include "server/metrics/status_codes.h"
#include "sim/base/assert.h"

namespace sm89 {
namespace {

std::vector<double> LatencyBuckets() {
  return {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
}

}  // namespace

struct RpcMetrics::Method {
  std::string name;
  prometheus::Histogram* seconds = nullptr;
  prometheus::Gauge* in_flight = nullptr;
  std::array<std::atomic<prometheus::Counter*>, kNumStatusCodes> by_code{};
};

RpcMetrics::RpcMetrics(prometheus::Registry& registry, const std::vector<RpcMethod>& methods) {
  requests_ = &prometheus::BuildCounter()
                   .Name("sm89_rpc_requests_total")
                   .Help("RPCs that ended, by method and status code.")
                   .Register(registry);
  auto& latency = prometheus::BuildHistogram()
                      .Name("sm89_rpc_duration_seconds")
                      .Help("Time from the start of an RPC to its status; streams and long polls excluded.")
                      .Register(registry);
  auto& lifetimes = prometheus::BuildHistogram()
                        .Name("sm89_rpc_stream_duration_seconds")
                        .Help("Time from the start to the status of streams and long polls.")
                        .Register(registry);
  auto& in_flight = prometheus::BuildGauge()
                        .Name("sm89_rpcs_in_flight")
                        .Help("RPCs that have begun and not ended.")
                        .Register(registry);
  std::vector<RpcMethod> all = methods;
  all.push_back({"unknown", false});
  for (const RpcMethod& description : all) {
    auto method = std::make_unique<Method>();
    method->name = description.name;
    const prometheus::Labels labels = {{"method", description.name}};
    method->seconds = description.long_lived ? &lifetimes.Add(labels, JobTimeBuckets())
                                             : &latency.Add(labels, LatencyBuckets());
    method->in_flight = &in_flight.Add(labels);
    CounterOf(*method, absl::StatusCode::kOk);
    ids_.emplace(description.name, methods_.size());
    methods_.push_back(std::move(method));
  }
  SM89_ASSERT(ids_.size() == methods_.size(), "two RPC methods of one name");
}

RpcMetrics::~RpcMetrics() = default;

RpcMetrics::MethodId RpcMetrics::Find(std::string_view name) const {
  if (!name.empty() && name.front() == '/') name.remove_prefix(1);
  const auto it = ids_.find(std::string(name));
  return it == ids_.end() ? methods_.size() - 1 : it->second;
}

void RpcMetrics::Started(MethodId method) {
  SM89_ASSERT(method < methods_.size(), "a method that Find did not give");
  methods_[method]->in_flight->Increment();
}

void RpcMetrics::Finished(MethodId method, absl::StatusCode code, double seconds) {
  SM89_ASSERT(method < methods_.size(), "a method that Find did not give");
  Method& m = *methods_[method];
  m.in_flight->Decrement();
  m.seconds->Observe(seconds < 0 ? 0 : seconds);
  CounterOf(m, code).Increment();
}

prometheus::Counter& RpcMetrics::CounterOf(Method& method, absl::StatusCode code) {
  std::atomic<prometheus::Counter*>& slot = method.by_code[CodeIndex(code)];
  prometheus::Counter* counter = slot.load(std::memory_order_acquire);
  if (counter == nullptr) {
    // Add gives the same counter to every thread that asks for the same labels.
    counter = &requests_->Add({{"method", method.name}, {"code", CodeName(CodeIndex(code))}});
    slot.store(counter, std::memory_order_release);
  }
  return *counter;
}

}  // namespace sm89
