// Counter tracks of the simulation in the host's time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/kineto/placement.h"

namespace sm89::client {

// Takes the counter events of a timeline in their order and gives each part of a value's time in which one
// kernel was alone on the GPU to `emit`, moved with that kernel. A kernel's last value is followed by zero.
class CounterMoves {
 public:
  using Emit = std::function<absl::Status(TraceJson event)>;

  CounterMoves(const SimTimeline& simulated, const Placement& placement, Emit emit);

  absl::Status Take(const TraceJson& event);

 private:
  struct Standing {
    TraceJson event;
    int64_t start_ns = 0;
    size_t next = 0;  // in alone_: kernels before it are over
  };
  // The value that has stood from its start to `end_ns`.
  absl::Status Move(Standing* standing, int64_t end_ns);

  const SimTimeline& simulated_;
  const Placement& placement_;
  Emit emit_;
  std::vector<size_t> alone_;                                       // kernels, by simulated start
  std::map<std::pair<TraceJson, std::string>, Standing> standing_;  // pid, name
};

}  // namespace sm89::client
