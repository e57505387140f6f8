// Counters and histograms of jobs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "server/metrics/live_state.h"

namespace prometheus {
class Counter;
class Histogram;
class Registry;
}  // namespace prometheus

namespace sm89 {

enum class JobOutcomeLabel : uint8_t { kSucceeded, kFailed, kCancelled };
inline constexpr size_t kNumJobOutcomeLabels = 3;
std::string_view Name(JobOutcomeLabel outcome);

// Why an attempt ended without a result and its job went back to the queue.
enum class RequeueReasonLabel : uint8_t { kLostContact, kWorkerDied, kDaemonRestart };
inline constexpr size_t kNumRequeueReasonLabels = 3;
std::string_view Name(RequeueReasonLabel reason);

inline constexpr size_t kNumStatusCodes = 17;

class JobMetrics {
 public:
  explicit JobMetrics(prometheus::Registry& registry);

  void Submitted();
  void AnsweredFromCache();  // the result was known; the job never ran
  void Transition(JobStateLabel to);
  // A queued job was given to a worker after `wait_seconds` in the queue.
  void LeftQueue(double wait_seconds);
  // `run_seconds`: from the first start to the end; negative = it never ran (then not in the histogram).
  void Finished(JobOutcomeLabel outcome, double run_seconds);
  // With Finished(kFailed): the canonical code of the error.
  void FailedWith(absl::StatusCode code);
  void Requeued(RequeueReasonLabel reason);
  void LostContact();
  void LeaseExpired();

 private:
  prometheus::Counter* submitted_;
  prometheus::Counter* cache_hits_;
  prometheus::Counter* lost_contacts_;
  prometheus::Counter* lease_expiries_;
  std::array<prometheus::Counter*, kNumJobStateLabels> transitions_;
  std::array<prometheus::Counter*, kNumJobOutcomeLabels> finished_;
  std::array<prometheus::Counter*, kNumStatusCodes> failures_;
  std::array<prometheus::Counter*, kNumRequeueReasonLabels> requeues_;
  std::array<prometheus::Histogram*, kNumJobOutcomeLabels> durations_;
  prometheus::Histogram* queue_wait_;
};

}  // namespace sm89
