// Static instructions as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/isa/decoded_inst.h"
#include "sim/trace/trace_types.h"

namespace sm89::debug {

// SASS where the instruction has its encoding; else the opcode with the registers that the trace names, the
// written ones first: "LDG.E R4 <- R2".
std::string InstructionText(const StaticInst& inst, uint32_t binary_version);

// Registers and predicates that it names, each run once, the guard first, then in the order of its operands;
// without those that hold nothing (RZ, PT ...). From the encoding; an instruction without one names none.
std::vector<RegRange> RegistersNamedBy(const StaticInst& inst, uint32_t binary_version);

}  // namespace sm89::debug
