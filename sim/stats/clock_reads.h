// What a kernel's own clock reads (CS2R, S2R or S2UR of a clock or timer register) would measure: for each
// ordered pair of consecutive reads of a thread, the cycles between their issues.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace sm89 {

// Differences of one pair. Exact until there are more than kMaxBins different values; then bins of 2, 4, 8
// ... cycles, as few as do. The outcome does not depend on the order of the values.
class ClockHistogram {
 public:
  static constexpr size_t kMaxBins = 4096;

  // `threads` lanes of one warp saw `cycles`.
  void Add(uint64_t cycles, uint32_t threads);

  uint64_t warps() const { return warps_; }  // calls of Add
  uint64_t threads() const { return threads_; }
  uint64_t min_cycles() const { return min_cycles_; }  // exact, as is the maximum
  uint64_t max_cycles() const { return max_cycles_; }
  // Of the threads' values; of an even number the lower one in the middle. Not above the true one, and less
  // than resolution_cycles() below it.
  uint64_t MedianCycles() const;
  uint64_t resolution_cycles() const { return uint64_t{1} << shift_; }

 private:
  void Coarsen();

  std::map<uint64_t, uint64_t> bins_;  // cycles >> shift_ -> threads
  uint32_t shift_ = 0;
  uint64_t warps_ = 0;
  uint64_t threads_ = 0;
  uint64_t min_cycles_ = UINT64_MAX;
  uint64_t max_cycles_ = 0;
};

struct ClockPairSummary {
  uint32_t pc_first = 0;
  uint32_t pc_second = 0;
  uint64_t warps = 0;    // times that lanes of a warp went from the first read to the second
  uint64_t threads = 0;  // likewise, threads
  uint64_t min_cycles = 0;
  uint64_t median_cycles = 0;
  uint64_t max_cycles = 0;
  uint64_t resolution_cycles = 1;  // of the median; 1 = exact
};

struct ClockReadSummary {
  uint64_t warp_instructions = 0;       // that read a clock with some lane active
  std::vector<ClockPairSummary> pairs;  // by pc_first, pc_second
  // Differences of pairs beyond the first kMaxPairs met.
  uint64_t dropped_warps = 0;
  uint64_t dropped_threads = 0;

  bool any() const { return warp_instructions != 0; }
};

// The clock reads of one kernel; memory is bounded however often it reads.
class ClockReads {
 public:
  static constexpr size_t kMaxPairs = 64;

  void AddRead() { ++warp_instructions_; }
  void AddDifference(uint32_t pc_first, uint32_t pc_second, uint64_t cycles, uint32_t threads);
  ClockReadSummary Summary() const;

 private:
  struct Pair {
    uint32_t pc_first = 0;
    uint32_t pc_second = 0;
    ClockHistogram cycles;
  };
  uint64_t warp_instructions_ = 0;
  std::vector<Pair> pairs_;  // in the order met
  uint64_t dropped_warps_ = 0;
  uint64_t dropped_threads_ = 0;
};

}  // namespace sm89
