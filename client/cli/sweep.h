// Many jobs of one call: the combinations, following all of them, and the table at the end.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/context.h"
#include "sm89/v1/job.pb.h"

namespace sm89::client {

// All values of one setting.
struct SweepAxis {
  std::string name;
  std::vector<std::string> values;
};

// "n=v" pairs, those of one name forming an axis; axes in the order in which their names first appear.
absl::StatusOr<std::vector<SweepAxis>> ParseAxes(const std::vector<std::string>& pairs);

// One copy of `base` for each trace, configuration and combination of the axes' values, the last axis moving
// fastest. RESOURCE_EXHAUSTED when that is more than `jobs_max`.
struct SweepInputs {
  std::vector<std::string> traces;
  std::vector<std::string> configs;
  std::vector<SweepAxis> axes;
};
absl::StatusOr<std::vector<v1::JobSpec>> Combine(const v1::JobSpec& base, const SweepInputs& inputs,
                                                 size_t jobs_max);

// Waits until all of `names` have ended, showing how many have; asks by the label `sweep=id` that they all
// carry. Order of the answer = order of `names`.
absl::StatusOr<std::vector<v1::Job>> FollowSweep(Context& context, const std::string& id,
                                                 const std::vector<std::string>& names);

// What a row of the table shows of one job's result.
struct SweepResult {
  bool present = false;
  v1::Result result;  // without kernels
  uint64_t warp_instructions = 0;
  double ipc = 0;
};
absl::StatusOr<SweepResult> FetchSweepResult(Client& client, const v1::Job& job);

struct SweepRow {
  v1::Job job;
  std::string trace_label;
  SweepResult result;
};
void PrintSweep(Context& context, const std::vector<SweepRow>& rows);

}  // namespace sm89::client
