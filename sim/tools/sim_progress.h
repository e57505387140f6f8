// The progress line of sm89-sim.
#pragma once

#include <chrono>
#include <iosfwd>
#include <string>

#include "sim/api/simulator.h"

namespace sm89 {

// "kernel 3/16 bfs  cycle 1.20M  inst 3.40M/10.1M 34%  IPC 2.11  1.30M inst/s  ETA 5 s"
std::string FormatProgress(const SimProgress& progress, double seconds);

// Writes the line now and then: rewritten in place on a terminal, else one line every few seconds.
class ProgressPrinter {
 public:
  using Clock = std::chrono::steady_clock;

  ProgressPrinter(std::ostream& err, bool terminal) : err_(err), terminal_(terminal) {}
  void Reading(uint64_t done_bytes, uint64_t total_bytes);
  void Simulating(const SimProgress& progress);
  // Ends a line that is rewritten in place.
  void Finish();

 private:
  bool Due();
  void Show(const std::string& line);

  std::ostream& err_;
  bool terminal_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point simulation_start_{};
  Clock::time_point last_{};
  size_t shown_columns_ = 0;
};

}  // namespace sm89
