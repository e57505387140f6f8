// Jobs whose JSON reports a command works with: submitted together, followed to their ends, reports fetched.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/context.h"
#include "sm89/v1/job.pb.h"

namespace sm89::client {

struct ReportJob {
  v1::Job job;
  // Not OK: the job was refused, failed or was cancelled.
  absl::Status status;
  std::string report;  // "report.json"; that of an incomplete run, too
};

// In the order of `specs`. An error of one job is in its place; a server that cannot be reached, or an
// interrupt, is the answer for all.
absl::StatusOr<std::vector<ReportJob>> RunForReports(Context& context, const std::vector<v1::JobSpec>& specs);

// "report.json" of a job that has ended.
absl::StatusOr<std::string> FetchJsonReport(Client& client, const std::string& job);

}  // namespace sm89::client
