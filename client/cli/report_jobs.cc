#include "client/cli/report_jobs.h"

#include "absl/strings/str_cat.h"
#include "client/checksum.h"
#include "client/cli/format.h"
#include "client/cli/sweep.h"
#include "client/error.h"
#include "client/macros.h"
#include "client/result_reader.h"
#include "client/watcher.h"

namespace sm89::client {
namespace {

constexpr char kSweepLabel[] = "sweep";

// Errors that say nothing of the job: the next one would have the same.
bool ConcernsAll(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsCancelled(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsResourceExhausted(status);
}

absl::Status Submit(Client& client, v1::JobSpec spec, const std::string& sweep, ReportJob* out) {
  v1::SubmitJobRequest request;
  (*spec.mutable_labels())[kSweepLabel] = sweep;
  *request.mutable_job() = std::move(spec);
  request.set_request_id(NewUuid());
  absl::StatusOr<v1::Job> job = client.SubmitJob(request);
  if (job.ok()) {
    out->job = *std::move(job);
  } else if (ConcernsAll(job.status())) {
    return job.status();
  } else {
    out->status = job.status();
  }
  return absl::OkStatus();
}

absl::Status WhyItEnded(const v1::Job& job) {
  if (job.state() == v1::Job::SUCCEEDED) return absl::OkStatus();
  if (job.state() == v1::Job::FAILED)
    return FromRecordedError(job.error_code(), job.error_message(), job.error());
  return absl::FailedPreconditionError(
      absl::StrCat("job ", ShortName(job.name()), " is ", StateName(job.state())));
}

}  // namespace

absl::StatusOr<std::string> FetchJsonReport(Client& client, const std::string& job) {
  StringSink sink;
  CLIENT_RETURN_IF_ERROR(FetchResult(client, job, {{"report.json", &sink}}).status());
  return sink.text();
}

absl::StatusOr<std::vector<ReportJob>> RunForReports(Context& context,
                                                     const std::vector<v1::JobSpec>& specs) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  const std::string sweep = NewUuid().substr(0, 8);
  std::vector<ReportJob> jobs(specs.size());
  std::vector<std::string> names;
  for (size_t i = 0; i < specs.size(); ++i) {
    CLIENT_RETURN_IF_ERROR(Submit(*client, specs[i], sweep, &jobs[i]));
    if (jobs[i].status.ok()) names.push_back(jobs[i].job.name());
  }
  if (names.empty()) return jobs;
  CLIENT_ASSIGN_OR_RETURN(const std::vector<v1::Job> ended, FollowSweep(context, sweep, names));
  size_t at = 0;
  for (ReportJob& job : jobs) {
    if (!job.status.ok()) continue;
    job.job = ended[at++];
    job.status = WhyItEnded(job.job);
    if (!job.status.ok()) continue;
    CLIENT_ASSIGN_OR_RETURN(job.report, FetchJsonReport(*client, job.job.name()));
  }
  return jobs;
}

}  // namespace sm89::client
