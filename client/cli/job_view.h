// How jobs and their progress are shown, for all commands that show them.
#pragma once

#include <string>

#include "client/cli/context.h"
#include "client/cli/progress.h"
#include "client/cli/table.h"
#include "sm89/v1/job.pb.h"

namespace sm89::client {

// `name`: "jobs/ID".
absl::StatusOr<v1::Job> GetJob(Context& context, const std::string& name);

// "kernel 3/16 name  cycle 1.2 M  IPC 12.3  2.1 M warp insts/s  ETA 12 s".
std::string ProgressText(const v1::Progress& progress);
// 0..1 by warp instructions, else (a program) by kernels and CTAs; negative when unknown.
double ProgressFraction(const v1::Progress& progress);

// "configs/RTX4090 n=v ..." as one cell.
std::string ConfigText(const v1::JobSpec& spec);

// Why it is in this state: the failure, the reason for waiting, or the progress.
std::string ReasonText(const v1::Job& job);

// One line for the end of a wait: state, cycles, instructions, IPC, time. On the output stream.
void PrintJobEnd(Context& context, const v1::Job& job);

// Everything about a job, for `show`.
void PrintJob(Context& context, const v1::Job& job);

// Of a job's profile so far, unless the user says how many.
inline constexpr uint32_t kProfileRowsDefault = 10;

// Follows a job, drawing its progress; `from_sequence` resumes. When the user interrupts, says how to go on
// watching or to cancel. `events`: every update as one line of JSON on the output stream.
struct FollowOptions {
  uint64_t from_sequence = 0;
  bool events = false;
  bool show_progress = true;
  uint32_t profile_rows = 0;  // of the profile so far, drawn above the progress; 0 = none
};
absl::StatusOr<v1::Job> FollowJob(Context& context, const std::string& name, const FollowOptions& options);

}  // namespace sm89::client
