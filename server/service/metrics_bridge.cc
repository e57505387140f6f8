#include "server/service/metrics_bridge.h"

#include <array>
#include <vector>

#include "absl/status/status.h"

namespace sm89 {
namespace {

// The label enums follow the domain's order.
static_assert(static_cast<int>(JobStateLabel::kCancelled) == static_cast<int>(JobState::kCancelled));
static_assert(kNumJobStateLabels == kJobStates);
static_assert(static_cast<int>(WorkerStateLabel::kBackoff) == static_cast<int>(WorkerState::kBackoff));

static_assert(static_cast<int>(UploadFailureLabel::kStoreError) ==
              static_cast<int>(UploadFailureKind::kStoreError));

constexpr double kNanosPerSecond = 1e9;
constexpr int kStatusCodes = 17;

JobStateLabel LabelOf(JobState state) { return static_cast<JobStateLabel>(state); }

SimulatedAttempt KeyOf(const Job& job) { return {job.id, job.place.attempt}; }

absl::StatusCode CodeFromName(const std::string& name) {
  for (int code = 0; code < kStatusCodes; ++code) {
    if (absl::StatusCodeToString(static_cast<absl::StatusCode>(code)) == name) {
      return static_cast<absl::StatusCode>(code);
    }
  }
  return absl::StatusCode::kUnknown;
}

JobOutcomeLabel OutcomeOf(JobState state) {
  if (state == JobState::kSucceeded) return JobOutcomeLabel::kSucceeded;
  return state == JobState::kFailed ? JobOutcomeLabel::kFailed : JobOutcomeLabel::kCancelled;
}

double RunSeconds(const Job& job) {
  if (job.times.start_unix_nanos == 0) return -1;
  const double nanos = static_cast<double>(job.times.end_unix_nanos - job.times.start_unix_nanos);
  return nanos < 0 ? 0 : nanos / kNanosPerSecond;
}

}  // namespace

void MetricsBridge::OnSubmitted(const Job& job) {
  metrics_.jobs().Submitted();
  metrics_.jobs().Transition(LabelOf(job.state));
  if (job.outcome.from_cache) metrics_.jobs().AnsweredFromCache();
}

void MetricsBridge::OnChanged(const Job& before, const Job& after, double queued_seconds) {
  if (before.state == after.state) return;
  JobMetrics& jobs = metrics_.jobs();
  jobs.Transition(LabelOf(after.state));
  if (after.state == JobState::kStarting) {
    jobs.LeftQueue(queued_seconds);
    metrics_.simulation().AttemptStarted(KeyOf(after));
  }
  if (after.state == JobState::kLostContact) jobs.LostContact();
  if (IsActive(before.state) && !IsActive(after.state)) metrics_.simulation().AttemptEnded(KeyOf(before));
  if (after.state == JobState::kQueued) {
    const bool lost = before.state == JobState::kLostContact;
    jobs.Requeued(recovering_ ? RequeueReasonLabel::kDaemonRestart
                  : lost      ? RequeueReasonLabel::kLostContact
                              : RequeueReasonLabel::kWorkerDied);
  }
  if (!IsTerminal(after.state)) return;
  jobs.Finished(OutcomeOf(after.state), RunSeconds(after));
  if (after.state == JobState::kFailed) jobs.FailedWith(CodeFromName(after.outcome.error.code));
}

void MetricsBridge::OnProgress(const Job& job, const JobProgress& progress) {
  std::vector<IntervalStatistic> interval;
  interval.reserve(progress.interval.size());
  for (const NamedCount& count : progress.interval) interval.push_back({count.name, count.value});
  AttemptReport report;
  report.cycles = progress.cycle;
  report.warp_instructions = progress.warp_instructions;
  report.warp_instructions_per_second = progress.warp_instructions_per_second;
  report.interval = interval;
  metrics_.simulation().AttemptProgress(KeyOf(job), report);
}

void MetricsBridge::OnReattached(const Job& job) { metrics_.simulation().AttemptStarted(KeyOf(job), true); }

void MetricsBridge::OnWorkerStarted(bool replaces_another) {
  metrics_.workers().Started();
  if (replaces_another) metrics_.workers().Restarted();
}

void MetricsBridge::OnWorkerEnded(WorkerEnd how) {
  constexpr std::array<WorkerExitLabel, 5> kExits = {WorkerExitLabel::kNormal, WorkerExitLabel::kError,
                                                     WorkerExitLabel::kSignal, WorkerExitLabel::kOutOfMemory,
                                                     WorkerExitLabel::kKilled};
  metrics_.workers().Exited(kExits[static_cast<size_t>(how)]);
}

void MetricsBridge::OnWorkerReattached() { metrics_.workers().Reattached(); }

void MetricsBridge::OnLeaseExpired() { metrics_.jobs().LeaseExpired(); }

void TraceMetricsBridge::UploadStarted() { metrics_.uploads().Started(); }

void TraceMetricsBridge::UploadDeduplicated() { metrics_.uploads().Finished(UploadEndLabel::kDeduplicated); }

void TraceMetricsBridge::BytesReceived(uint64_t bytes) { metrics_.uploads().Received(bytes); }

void TraceMetricsBridge::UploadStored() { metrics_.uploads().Finished(UploadEndLabel::kStored); }

void TraceMetricsBridge::UploadFailed(UploadFailureKind kind) {
  metrics_.uploads().Failed(static_cast<UploadFailureLabel>(kind));
}

void TraceMetricsBridge::TraceRefused(const absl::Status& error) {
  metrics_.uploads().TraceError(ClassifyTraceError(error));
}

}  // namespace sm89
