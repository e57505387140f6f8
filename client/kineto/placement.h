// When and where each simulated kernel stands in the host's time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "client/kineto/host_profile.h"
#include "client/kineto/kernel_match.h"
#include "client/kineto/sim_timeline.h"

namespace sm89::client {

struct PlacedKernel {
  int64_t start_ns = 0;
  int64_t track = 0;
  // Alone on the simulated GPU, both in the simulation and here: counters of that time are its own.
  bool alone = false;
};

struct Placement {
  std::vector<PlacedKernel> kernels;      // by simulated kernel
  std::map<int64_t, std::string> tracks;  // tid -> name
};

// A matched kernel starts when its launch call has returned and its predecessor on the same host stream is
// over (without a call in the profile: no earlier than the measured kernel). It lasts as long as it was
// simulated. Kernels that were not matched follow behind the host's last event, as far apart as simulated.
Placement Place(const HostProfile& host, const SimTimeline& simulated, const std::vector<Match>& matches);

}  // namespace sm89::client
