// Counters of worker processes. How many are in which state is in LiveState.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace prometheus {
class Counter;
class Registry;
}  // namespace prometheus

namespace sm89 {

// How a worker process ended.
enum class WorkerExitLabel : uint8_t {
  kNormal,       // asked to stop, exit code 0
  kError,        // another exit code
  kSignal,       // crash or assertion: ended by a signal that we did not send
  kOutOfMemory,  // over its memory limit
  kKilled,       // by us: cancel, hang, time limit
};
inline constexpr size_t kNumWorkerExitLabels = 5;
std::string_view Name(WorkerExitLabel exit);

class WorkerMetrics {
 public:
  explicit WorkerMetrics(prometheus::Registry& registry);

  void Started();
  void Exited(WorkerExitLabel how);
  void Restarted();   // a process started to replace one that ended unasked
  void Reattached();  // a worker came back after a daemon restart or a broken connection

 private:
  prometheus::Counter* starts_;
  prometheus::Counter* restarts_;
  prometheus::Counter* reattaches_;
  std::array<prometheus::Counter*, kNumWorkerExitLabels> exits_;
};

}  // namespace sm89
