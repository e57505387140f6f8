#include "sim/stats/clock_reads.h"

#include <algorithm>
#include <tuple>

namespace sm89 {

void ClockHistogram::Add(uint64_t cycles, uint32_t threads) {
  ++warps_;
  threads_ += threads;
  min_cycles_ = std::min(min_cycles_, cycles);
  max_cycles_ = std::max(max_cycles_, cycles);
  bins_[cycles >> shift_] += threads;
  while (bins_.size() > kMaxBins) Coarsen();
}

void ClockHistogram::Coarsen() {
  ++shift_;
  std::map<uint64_t, uint64_t> wider;
  for (const auto& [bin, threads] : bins_) wider[bin >> 1] += threads;
  bins_ = std::move(wider);
}

uint64_t ClockHistogram::MedianCycles() const {
  const uint64_t wanted = (threads_ + 1) / 2;
  uint64_t seen = 0;
  for (const auto& [bin, threads] : bins_) {
    seen += threads;
    if (seen >= wanted) return std::max(bin << shift_, min_cycles_);
  }
  return 0;
}

void ClockReads::AddDifference(uint32_t pc_first, uint32_t pc_second, uint64_t cycles, uint32_t threads) {
  auto pair = std::find_if(pairs_.begin(), pairs_.end(),
                           [&](const Pair& p) { return p.pc_first == pc_first && p.pc_second == pc_second; });
  if (pair == pairs_.end()) {
    if (pairs_.size() == kMaxPairs) {
      ++dropped_warps_;
      dropped_threads_ += threads;
      return;
    }
    pair = pairs_.insert(pairs_.end(), {pc_first, pc_second, {}});
  }
  pair->cycles.Add(cycles, threads);
}

ClockReadSummary ClockReads::Summary() const {
  ClockReadSummary summary;
  summary.warp_instructions = warp_instructions_;
  summary.dropped_warps = dropped_warps_;
  summary.dropped_threads = dropped_threads_;
  for (const Pair& p : pairs_) {
    summary.pairs.push_back({p.pc_first, p.pc_second, p.cycles.warps(), p.cycles.threads(),
                             p.cycles.min_cycles(), p.cycles.MedianCycles(), p.cycles.max_cycles(),
                             p.cycles.resolution_cycles()});
  }
  std::sort(summary.pairs.begin(), summary.pairs.end(),
            [](const ClockPairSummary& a, const ClockPairSummary& b) {
              return std::tie(a.pc_first, a.pc_second) < std::tie(b.pc_first, b.pc_second);
            });
  return summary;
}

}  // namespace sm89
