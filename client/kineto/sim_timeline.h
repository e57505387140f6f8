// What a merge must know of a timeline that this simulator wrote.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/kineto/host_profile.h"

namespace sm89::client {

struct SimKernel {
  int64_t correlation = 0;
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  int64_t stream = 0;
  KernelIdentity identity;
};

struct SimTimeline {
  TraceJson device;     // its row of deviceProperties
  TraceJson identity;   // the member "sm89": versions, digests, how the run ended
  uint64_t copies = 0;  // of the host; they take no time
  uint64_t counters = 0;
  std::vector<SimKernel> kernels;  // by correlation: in the order of launch
};

// INVALID_ARGUMENT for a trace that is not of this simulator.
absl::StatusOr<SimTimeline> ReadSimTimeline(const std::string& path, NameTable* names, std::stop_token stop);

}  // namespace sm89::client
