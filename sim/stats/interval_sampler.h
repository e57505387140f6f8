// Counters of a run by intervals of simulated time, for the tracks of a timeline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/stats/sim_stats.h"

namespace sm89 {

// What was counted from the end of the sample before (the first: from cycle 0) to `end_cycle`, summed over
// the GPU. Counters of L2 and DRAM run ahead of the others by one way through the interconnect.
struct IntervalSample {
  uint64_t end_cycle = 0;
  uint64_t warp_instructions = 0;
  uint64_t issue_slots = 0;
  uint64_t tensor_busy_cycles = 0;
  uint64_t l2_sectors = 0;  // read and written by SMs
  uint64_t l2_hits = 0;     // of these
  uint64_t dram_read_sectors = 0;
  uint64_t dram_write_sectors = 0;

  friend bool operator==(const IntervalSample&, const IntervalSample&) = default;
};

struct IntervalSamples {
  std::vector<IntervalSample> samples;
  uint32_t num_sms = 0;             // with tracks of their own; 0 = none
  std::vector<uint64_t> sm_issued;  // warp instructions: sample i, SM s at i * num_sms + s

  bool empty() const { return samples.empty(); }
};

// Takes cumulative counters at times of the caller's and keeps at most kMaxSamples intervals (kMaxSmSamples
// with tracks of SMs): when there would be more, each two neighbours become one and the interval doubles.
class IntervalSampler {
 public:
  static constexpr size_t kMaxSamples = 8192;
  static constexpr size_t kMaxSmSamples = 1024;

  // `interval_cycles` > 0. `num_sms`: SMs with a track of their own, 0 = none.
  IntervalSampler(uint64_t interval_cycles, uint32_t num_sms);

  // An interval has passed at `now`.
  bool Due(uint64_t now) const { return now - last_cycle_ >= interval_cycles_; }
  // `totals`: of the run so far; `issued_by_sm`: warp instructions of each SM so far, num_sms of them.
  // `now` must be behind the last sample.
  void Add(uint64_t now, const SimStats& totals, std::span<const uint64_t> issued_by_sm);
  // With a last sample up to `now`, which may be short, or none when nothing has passed.
  IntervalSamples Until(uint64_t now, const SimStats& totals, std::span<const uint64_t> issued_by_sm) const;

  uint64_t interval_cycles() const { return interval_cycles_; }
  uint64_t last_cycle() const { return last_cycle_; }

 private:
  size_t Most() const { return kept_.num_sms == 0 ? kMaxSamples : kMaxSmSamples; }
  void Halve();

  uint64_t interval_cycles_;
  uint64_t last_cycle_ = 0;
  IntervalSample totals_;  // at last_cycle_
  std::vector<uint64_t> sm_totals_;
  IntervalSamples kept_;
};

}  // namespace sm89
