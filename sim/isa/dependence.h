// Cycles that ptxas keeps between instructions, for those whose results come after a fixed time.
//
// Source of the figures: the smallest distances in sm_89 code of ptxas 13.0 (110,000 instructions: issue
// cycles by stall counts between a fixed-latency writer and its reader within a block); Mesa NAK's table for
// sm_80 (MIT) for pairs that do not occur there.
#pragma once

#include <cstdint>

#include "sim/isa/decoded_inst.h"

namespace sm89 {

// Longest of all distances below.
inline constexpr int kMaxDependenceCycles = 27;

// How a register is read.
enum class ReadKind : uint8_t {
  kOperand,
  kAccumulator,  // operand C of a tensor instruction
  kGuard,        // guard, condition of a branch
};

// From the issue of `writer` to the issue of a reader of its result in `file`. 1 for a writer of variable
// latency, whose readers wait for a counter.
int DependenceCycles(const DecodedInst& writer, const DecodedInst& reader, RegFile file, ReadKind kind);

// From the issue of `first` to that of `second` where both write one register.
int OverwriteCycles(const DecodedInst& first, const DecodedInst& second, RegFile file);

// Pipes whose issue ptxas spaces in the code, whatever the operands.
enum class IssuePipe : uint8_t { kNone, kInt, kImad, kHalf, kFp64, kSfu, kTensor, kMio, kUniform };
inline constexpr int kNumIssuePipes = 9;
IssuePipe IssuePipeOf(const DecodedInst& inst);
// From `inst` to the next one of its pipe, in code of sm_`binary_version`. sm_90: 39,000 instructions of the
// same compiler, in which sm_89's distances of dependences hold.
int SpacingCycles(const DecodedInst& inst, uint32_t binary_version);

// Least stall count of `inst` with `next` behind it (null at the end of the code).
int MinStallCycles(const DecodedInst& inst, const DecodedInst* next);

}  // namespace sm89
