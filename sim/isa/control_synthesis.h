// Control bits for code that has none: a static assignment by the rules that ptxas's own output shows, so
// that one issue model serves traces with and without machine code.
#pragma once

#include "sim/isa/code_flow.h"
#include "sim/isa/decoded_inst.h"

namespace sm89 {

// Fills `bits` of every instruction (and depbar_counter of DEPBAR), whatever they were; control_source
// becomes kSynthesised. Static instructions at one PC get equal bits.
//
// Stall counts keep the distances of dependence.h, in the worst case over the predecessors of a block.
// Results of variable latency get a write counter where anything reads or overwrites them, registers that
// such instructions read a read counter where anything overwrites them first; readers and overwriters wait.
// The six counters are given out in program order: one shared with the same first consumer, else a free one,
// else the one whose first consumer is nearest. LDGDEPBAR has a counter of its own, which DEPBAR names.
// Reuse bits are set where the next reader of that operand slot and bank in the block reads the same
// register.
//
// Instructions of `flow.guarded` become `guarded`. Without edges every instruction falls through.
void SynthesiseControlBits(const CodeFlow& flow, DecodedKernel* kernel);

}  // namespace sm89
