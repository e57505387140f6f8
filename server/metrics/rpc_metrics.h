// RPCs by method and code. server/service/rpc_metrics.h measures them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
class Registry;
template <typename T>
class Family;
}  // namespace prometheus

namespace sm89 {

struct RpcMethod {
  std::string name;  // "sm89.v1.JobService/SubmitJob"
  // Streams and long polls last as long as their clients like: they are left out of the latency histogram
  // and have one of their own with buckets up to a day.
  bool long_lived = false;
};

class RpcMetrics {
 public:
  // An index into the methods given at start.
  using MethodId = size_t;

  RpcMetrics(prometheus::Registry& registry, const std::vector<RpcMethod>& methods);
  ~RpcMetrics();
  RpcMetrics(const RpcMetrics&) = delete;
  RpcMetrics& operator=(const RpcMetrics&) = delete;

  // `name` with or without the leading '/'. Every name that was not given at start is one method, "unknown".
  MethodId Find(std::string_view name) const;
  void Started(MethodId method);
  void Finished(MethodId method, absl::StatusCode code, double seconds);

 private:
  struct Method;
  prometheus::Counter& CounterOf(Method& method, absl::StatusCode code);

  prometheus::Family<prometheus::Counter>* requests_;
  std::vector<std::unique_ptr<Method>> methods_;  // the last one is "unknown"
  std::unordered_map<std::string, MethodId> ids_;
};

}  // namespace sm89
