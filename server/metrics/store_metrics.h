// The database's share of /metrics. Sizes are in LiveState.
#pragma once

namespace prometheus {
class Counter;
class Histogram;
class Registry;
}  // namespace prometheus

namespace sm89 {

class StoreMetrics {
 public:
  explicit StoreMetrics(prometheus::Registry& registry);

  void Committed(double seconds);
  void CommitFailed();

 private:
  prometheus::Histogram* commit_seconds_;
  prometheus::Counter* commit_failures_;
};

}  // namespace sm89
