// The warp scheduler of one sub-core: which warps may try to issue, in which order; sleeping warps cost
// nothing until their cycle comes. Policies: greedy then youngest (default), loose round robin, oldest.
#pragma once

#include <array>
#include <cstdint>

#include "sim/base/types.h"

namespace sm89 {

enum class SchedulerPolicy : uint32_t { kGreedyYoungest = 0, kRoundRobin = 1, kGreedyOldest = 2 };

class WarpScheduler {
 public:
  static constexpr uint32_t kMaxWarps = 32;  // a sub-core

  explicit WarpScheduler(SchedulerPolicy policy) : policy_(policy) {}

  // Warp `w` (0..31 in this sub-core) arrives, younger than all others, or leaves.
  void Add(uint32_t w);
  void Remove(uint32_t w);

  // The warp's next instruction may issue from `cycle` on, which lies after `now`. Returns when WakeDue must
  // be called for it: then or before.
  Cycle Sleep(uint32_t w, Cycle now, Cycle cycle);
  // Not before an event: it is neither a candidate nor asleep.
  void Block(uint32_t w) { candidates_ &= ~Bit(w); }
  void MakeCandidate(uint32_t w) { candidates_ |= Bit(w); }

  // Moves sleepers that are due at `now` among the candidates; returns them.
  uint32_t WakeDue(Cycle now);
  // Earliest cycle with a sleeper; kNever when none sleeps.
  Cycle NextWake(Cycle now) const;

  bool any_asleep() const { return occupied_ != 0; }
  uint32_t candidates() const { return candidates_; }
  // The preferred one of `among`, a non-empty set of candidates.
  uint32_t Pick(uint32_t among) const;
  void Issued(uint32_t w) { last_ = w; }
  // The warp that issued last; kMaxWarps when it has left.
  uint32_t last() const { return last_; }

 private:
  static constexpr uint32_t kWheel = 64;
  static constexpr uint32_t Bit(uint32_t w) { return uint32_t{1} << w; }

  SchedulerPolicy policy_;
  uint32_t candidates_ = 0;
  uint32_t last_ = kMaxWarps;
  uint32_t num_warps_ = 0;
  std::array<uint8_t, kMaxWarps> by_age_{};  // youngest first
  std::array<Cycle, kMaxWarps> wake_{};
  std::array<uint32_t, kWheel> wheel_{};  // sleepers by cycle mod 64; far ones are passed on
  uint64_t occupied_ = 0;
};

}  // namespace sm89
