// Looking at and signalling processes that may not be our children (workers of an earlier daemon). An
// interface, so that the deterministic simulation owns the processes.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"

namespace sm89 {

class ProcessProbe {
 public:
  virtual ~ProcessProbe() = default;
  virtual absl::StatusOr<uint64_t> StartTicks(int64_t pid) = 0;
  // Running and still the process that started at `start_ticks`. A zombie is not running: where nobody
  // reaps orphans it keeps its pid for ever.
  virtual bool Alive(int64_t pid, uint64_t start_ticks) = 0;
  // Signals the process group if it is still that process.
  virtual void Signal(int64_t pid, uint64_t start_ticks, int signal) = 0;
};

ProcessProbe& SystemProcessProbe();

}  // namespace sm89
