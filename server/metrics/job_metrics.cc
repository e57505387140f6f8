#include "server/metrics/job_metrics.h"

#include "server/metrics/families.h"
#include "server/metrics/status_codes.h"

namespace sm89 {

JobMetrics::JobMetrics(prometheus::Registry& registry)
    : submitted_(MakeCounter(registry, "sm89_jobs_submitted_total", "Jobs accepted.")),
      cache_hits_(MakeCounter(registry, "sm89_job_result_cache_hits_total",
                              "Jobs answered from an earlier result without simulating.")),
      lost_contacts_(MakeCounter(registry, "sm89_job_lost_contacts_total",
                                 "Times that the worker of a running job went silent.")),
      lease_expiries_(MakeCounter(registry, "sm89_lease_expiries_total",
                                  "Leases that ran out: the attempt was given up.")),
      transitions_(MakeCounters<JobStateLabel, kNumJobStateLabels>(registry, "sm89_job_transitions_total",
                                                                   "Jobs that entered a state.", "state")),
      finished_(MakeCounters<JobOutcomeLabel, kNumJobOutcomeLabels>(
          registry, "sm89_jobs_finished_total", "Jobs that reached a final state.", "outcome")),
      requeues_(MakeCounters<RequeueReasonLabel, kNumRequeueReasonLabels>(
          registry, "sm89_job_requeues_total", "Attempts that ended without a result and were queued again.",
          "reason")) {
  auto& failures = prometheus::BuildCounter()
                       .Name("sm89_job_failures_total")
                       .Help("Failed jobs by the code of their error.")
                       .Register(registry);
  for (size_t code = 0; code < kNumStatusCodes; ++code) {
    failures_[code] = code == 0 ? nullptr : &failures.Add({{"code", CodeName(code)}});
  }
  auto& durations = prometheus::BuildHistogram()
                        .Name("sm89_job_duration_seconds")
                        .Help("From the first start of a job to its end.")
                        .Register(registry);
  for (size_t i = 0; i < kNumJobOutcomeLabels; ++i) {
    const std::string outcome(Name(static_cast<JobOutcomeLabel>(i)));
    durations_[i] = &durations.Add({{"outcome", outcome}}, JobTimeBuckets());
  }
  queue_wait_ = &prometheus::BuildHistogram()
                     .Name("sm89_job_queue_wait_seconds")
                     .Help("Time from entering the queue to being given to a worker.")
                     .Register(registry)
                     .Add({}, JobTimeBuckets());
}

void JobMetrics::Submitted() { submitted_->Increment(); }
void JobMetrics::AnsweredFromCache() { cache_hits_->Increment(); }
void JobMetrics::Transition(JobStateLabel to) { transitions_[static_cast<size_t>(to)]->Increment(); }
void JobMetrics::LeftQueue(double wait_seconds) { queue_wait_->Observe(wait_seconds < 0 ? 0 : wait_seconds); }
void JobMetrics::Requeued(RequeueReasonLabel reason) { requeues_[static_cast<size_t>(reason)]->Increment(); }
void JobMetrics::LostContact() { lost_contacts_->Increment(); }
void JobMetrics::LeaseExpired() { lease_expiries_->Increment(); }

void JobMetrics::Finished(JobOutcomeLabel outcome, double run_seconds) {
  finished_[static_cast<size_t>(outcome)]->Increment();
  if (run_seconds >= 0) durations_[static_cast<size_t>(outcome)]->Observe(run_seconds);
}

void JobMetrics::FailedWith(absl::StatusCode code) {
  // A failure that calls itself OK is a fault of the caller; it must show, not vanish.
  const size_t index =
      code == absl::StatusCode::kOk ? CodeIndex(absl::StatusCode::kUnknown) : CodeIndex(code);
  failures_[index]->Increment();
}

}  // namespace sm89
