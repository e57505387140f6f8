// ATOM, ATOMG, ATOMS, RED, REDG, ARRIVES.
#pragma once

#include "absl/status/status.h"
#include "sim/emu/exec.h"

namespace sm89::emu {

absl::Status CompileAtomic(const sass::Instruction& inst, Compiled* c);

// The word of an mbarrier in shared memory, as ptxas-made code initialises and tests it. High half: bit 31
// is the phase, the rest counts up to 2^31, where the phase ends. Low half: 2^30 minus the number of
// arrivals of a phase.
uint64_t ArriveOnce(uint64_t word);

}  // namespace sm89::emu
