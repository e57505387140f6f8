// Instruction supply of an SM: an L1 instruction cache, and in each sub-core an L0 with a stream buffer that
// prefetches the lines behind a miss. Asked once a line and warp, not once an instruction.
//
// Source: "Analyzing Modern NVIDIA GPU Cores" (MICRO 2025) for structure and prefetcher; sizes and times are
// settings (FrontEndConfig).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/config/gpu_config.h"
#include "sim/sm/lru_tags.h"
#include "sim/sm/timeline.h"
#include "sim/stats/sim_stats.h"

namespace sm89 {

inline constexpr uint32_t kCodeLineBytes = 128;

// Shared by the sub-cores of an SM.
class InstructionL1 {
 public:
  explicit InstructionL1(const FrontEndConfig& config);
  // A request that an L0 sends at `now`, for a warp that waits (`demand`) or ahead of it: the cycle at which
  // its line is back in the L0.
  Cycle Request(uint64_t line, Cycle now, bool demand, SmStats* stats);
  void Clear() { tags_.Clear(); }

 private:
  FrontEndConfig config_;
  LruTags tags_;
  Timeline port_;
  Cycle below_free_ = 0;  // the path to the L2
};

class InstructionL0 {
 public:
  InstructionL0(const FrontEndConfig& config, InstructionL1* l1);
  // A warp asks for line `line` (address / 128) at `now`; the cycle from which the line can be read.
  Cycle Fetch(uint64_t line, Cycle now, SmStats* stats);
  void Clear();

 private:
  Cycle Arrive(Cycle back);
  Cycle TakeHead(Cycle now, const Cycle* present, SmStats* stats);
  Cycle Restart(uint64_t line, Cycle now, SmStats* stats);
  void Prefetch(Cycle now, SmStats* stats);

  FrontEndConfig config_;
  InstructionL1* l1_;
  LruTags tags_;
  // Stream buffer: `count_` lines from head_line_ on, ready_[ (head_ + i) % size ].
  std::vector<Cycle> ready_;
  uint64_t head_line_ = 0;
  uint32_t head_ = 0;
  uint32_t count_ = 0;
  Cycle prefetch_free_ = 0;
  Cycle fill_free_ = 0;  // the next line of the stream may enter
  Timeline demands_;     // lines that enter because a warp waits
};

}  // namespace sm89
