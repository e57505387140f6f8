// Occupancy of the execution units of one sub-core: a next-free cycle for each pipe.
#pragma once

#include <array>
#include <cstdint>

#include "sim/base/types.h"
#include "sim/sm/kernel_code.h"
#include "sim/stats/sim_stats.h"

namespace sm89 {

class ExecUnits {
 public:
  // `fp64_free`: next free cycle of the FP64 unit that the whole SM shares; outlives this object.
  explicit ExecUnits(Cycle* fp64_free) : fp64_free_(fp64_free) {}

  // Earliest cycle >= now at which the unit takes the instruction.
  Cycle EarliestIssue(const SmInst& inst, Cycle now) const;
  // Occupies the unit from `now`, which EarliestIssue allowed.
  void Reserve(const SmInst& inst, Cycle now, SmStats* stats);

 private:
  enum Pipe : uint32_t {
    kFma,     // half-pipe: FP32 and IMAD
    kShared,  // half-pipe: FP32 and INT
    kHalf,
    kSfu,
    kTensor,
    kUniform,
    kBranch,
    kMisc,
    kTexture,
    kFp64,  // kept in *fp64_free_
    kNone,  // memory instructions: the LSU's queue decides
    kNumPipes,
  };
  Pipe PipeOf(const SmInst& inst) const;

  Cycle* fp64_free_;
  std::array<Cycle, kNumPipes> free_{};
};

}  // namespace sm89
