// Turns the simulator's snapshots into progress messages: speeds, time left, what happened since the last
// one.
#pragma once

#include "server/os/clock.h"
#include "sim/api/simulator.h"
#include "sm89/v1/job.pb.h"

namespace sm89 {

class ProgressMeter {
 public:
  // `run`: a report of the simulator, for the GPU's dimensions.
  ProgressMeter(const Clock& clock, RunReport run, Duration interval);

  bool Due() const { return clock_.SteadyNow() - last_time_ >= interval_; }
  v1::Progress Message(const SimProgress& now);

 private:
  const Clock& clock_;
  const RunReport run_;
  const Duration interval_;
  const SteadyTime start_;
  SteadyTime last_time_;
  SimProgress last_;
};

}  // namespace sm89
