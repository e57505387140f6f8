#include "sim/isa/decoded_inst.h"

namespace sm89 {

std::string_view Name(ExecUnit unit) {
  switch (unit) {
    case ExecUnit::kFp32:
      return "fp32";
    case ExecUnit::kInt:
      return "int";
    case ExecUnit::kImad:
      return "imad";
    case ExecUnit::kHalf:
      return "half";
    case ExecUnit::kFp64:
      return "fp64";
    case ExecUnit::kSfu:
      return "sfu";
    case ExecUnit::kTensor:
      return "tensor";
    case ExecUnit::kUniform:
      return "uniform";
    case ExecUnit::kBranch:
      return "branch";
    case ExecUnit::kMisc:
      return "misc";
    case ExecUnit::kMem:
      return "mem";
    case ExecUnit::kTexture:
      return "texture";
    case ExecUnit::kBarrier:
      return "barrier";
  }
  return "?";
}

std::string_view Name(MemSpace space) {
  switch (space) {
    case MemSpace::kNone:
      return "none";
    case MemSpace::kGlobal:
      return "global";
    case MemSpace::kShared:
      return "shared";
    case MemSpace::kLocal:
      return "local";
    case MemSpace::kGeneric:
      return "generic";
    case MemSpace::kConstant:
      return "constant";
    case MemSpace::kTexture:
      return "texture";
  }
  return "?";
}

std::string_view Name(MemOp op) {
  switch (op) {
    case MemOp::kNone:
      return "none";
    case MemOp::kLoad:
      return "load";
    case MemOp::kStore:
      return "store";
    case MemOp::kAtomic:
      return "atomic";
    case MemOp::kReduction:
      return "reduction";
    case MemOp::kLoadToShared:
      return "load_to_shared";
    case MemOp::kLoadMatrix:
      return "load_matrix";
    case MemOp::kShuffle:
      return "shuffle";
    case MemOp::kCacheControl:
      return "cache_control";
  }
  return "?";
}

}  // namespace sm89
