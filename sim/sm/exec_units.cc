#include "sim/sm/exec_units.h"

#include <algorithm>

#include "sim/base/assert.h"

namespace sm89 {

ExecUnits::Pipe ExecUnits::PipeOf(const SmInst& inst) const {
  switch (inst.unit) {
    case ExecUnit::kFp32:
      return free_[kFma] <= free_[kShared] ? kFma : kShared;
    case ExecUnit::kInt:
      return kShared;
    case ExecUnit::kImad:
      return kFma;
    case ExecUnit::kHalf:
      return kHalf;
    case ExecUnit::kFp64:
      return kFp64;
    case ExecUnit::kSfu:
      return kSfu;
    case ExecUnit::kTensor:
      return kTensor;
    case ExecUnit::kUniform:
      return kUniform;
    case ExecUnit::kBranch:
      return kBranch;
    case ExecUnit::kMisc:
    case ExecUnit::kBarrier:
      return kMisc;
    case ExecUnit::kTexture:
      return kTexture;
    case ExecUnit::kMem:
      return kNone;
  }
  SM89_ASSERT(false, "unknown execution unit");
}

Cycle ExecUnits::EarliestIssue(const SmInst& inst, Cycle now) const {
  const Pipe pipe = PipeOf(inst);
  return std::max(now, pipe == kFp64 ? *fp64_free_ : free_[pipe]);
}

void ExecUnits::Reserve(const SmInst& inst, Cycle now, SmStats* stats) {
  const Pipe pipe = PipeOf(inst);
  if (pipe == kNone) return;
  Cycle* free = pipe == kFp64 ? fp64_free_ : &free_[pipe];
  SM89_ASSERT(*free <= now, "issuing to a busy unit");
  *free = now + inst.interval_cycles;
  if (pipe == kTensor) stats->tensor_busy_cycles += inst.interval_cycles;
}

}  // namespace sm89
