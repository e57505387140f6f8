// What a merge says of itself.
#pragma once

#include <vector>

#include "client/kineto/host_profile.h"
#include "client/kineto/kernel_match.h"
#include "client/kineto/placement.h"
#include "client/kineto/sim_timeline.h"

namespace sm89::client {

struct MergeInputs {
  NameTable names;
  HostProfile host;
  SimTimeline simulated;
  std::vector<Match> matches;
  Placement placement;
  size_t replaced = 0;  // measured kernels left out on request
};

// Rows of each list in the report; how many more there are is said.
inline constexpr size_t kMergeReportRows = 1000;

TraceJson MergeReport(const MergeInputs& inputs);
// The report without its lists.
TraceJson MergeSummary(const TraceJson& report);

}  // namespace sm89::client
