// The execution pipes of one sub-core: when each takes its next instruction. On a GPU with few FP64 lanes the
// FP64 pipe is one for the whole SM.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sim/base/types.h"
#include "sim/sm/kernel_code.h"
#include "sim/stats/sim_stats.h"

namespace sm89 {

// When a resource takes its next instruction, and for how many cycles it has turned instructions away so far:
// the difference between two cycles is what a waiting warp lost to it.
class BusyTime {
 public:
  Cycle free() const { return free_; }
  // Occupied by an instruction issued at `now`: closed to others from now + 1 until `free`.
  void OccupyUntil(Cycle now, Cycle free) {
    const Cycle from = free_ > now + 1 ? free_ : now + 1;
    if (free > from) closed_ += free - from;
    if (free > free_) free_ = free;
  }
  // Closed cycles before `at`.
  Cycle ClosedBefore(Cycle at) const { return closed_ - (free_ > at ? free_ - at : 0); }

 private:
  Cycle free_ = 0;
  Cycle closed_ = 0;
};

class ExecUnits {
 public:
  // `shared_fp64`: the SM's FP64 pipe; null when the sub-core has its own.
  explicit ExecUnits(BusyTime* shared_fp64) : shared_fp64_(shared_fp64) {}

  const BusyTime& Of(Pipe pipe) const {
    if (pipe == Pipe::kFp64 && shared_fp64_ != nullptr) return *shared_fp64_;
    return pipes_[static_cast<size_t>(pipe)];
  }
  void Reserve(const SmInst& inst, Cycle now, SmStats* stats) {
    if (inst.pipe == Pipe::kNone || inst.interval_cycles == 0) return;
    const Cycle free = now + inst.interval_cycles;
    Pipe pipe = inst.pipe;
    // The half-pipe without the multiplier first, so that IMAD finds the other free (H200: FFMA with IMAD).
    if (pipe == Pipe::kEither) pipe = Of(Pipe::kLite).free() <= now ? Pipe::kLite : Pipe::kFma;
    if (pipe == Pipe::kFp64 && shared_fp64_ != nullptr) {
      shared_fp64_->OccupyUntil(now, free);
    } else {
      pipes_[static_cast<size_t>(pipe)].OccupyUntil(now, free);
    }
    if (pipe == Pipe::kFma || pipe == Pipe::kLite) {
      // FP32 waits while both half-pipes are taken.
      const Cycle both = std::min(Of(Pipe::kFma).free(), Of(Pipe::kLite).free());
      pipes_[static_cast<size_t>(Pipe::kEither)].OccupyUntil(now, both);
    }
    if (pipe == Pipe::kTensor) stats->tensor_busy_cycles += inst.interval_cycles;
  }

 private:
  BusyTime* shared_fp64_;
  std::array<BusyTime, kNumPipes> pipes_;
};

}  // namespace sm89
