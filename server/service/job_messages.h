// Between the job domain and its protocol messages.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/jobs/job_manager.h"
#include "sm89/v1/job.pb.h"
#include "sm89/v1/worker.pb.h"

namespace sm89 {

// "jobs/abc" -> "abc". INVALID_ARGUMENT naming `field` for anything else.
absl::StatusOr<std::string> IdFromName(std::string_view collection, const std::string& name,
                                       const std::string& field);

absl::StatusOr<JobSpec> SpecFromMessage(const v1::JobSpec& message);
v1::Job MessageOf(const JobView& view);
v1::Progress MessageOf(const JobProgress& progress);
// `profile_rows`: most rows of the live profile; 0 = without it.
v1::JobUpdate MessageOf(const WatchUpdate& update, size_t profile_rows);
// What a worker reports; sizes were bounded by the message limit, counts are cut to kProgressStatisticsMax
// and kLiveProfileRowsMax.
JobProgress ProgressFromMessage(const v1::Progress& message);

AttemptRef AttemptFromMessage(const v1::RunningAttempt& message);
v1::Assignment MessageOf(const Assignment& assignment);
// INVALID_ARGUMENT when neither a result nor a failure is there.
absl::StatusOr<Completion> CompletionFromMessage(const v1::CompleteRequest& request);

}  // namespace sm89
