// From the registers that a trace names to the registers that an instruction reads and writes.
#pragma once

#include "sim/isa/decoded_inst.h"
#include "sim/isa/opcode_table.h"
#include "sim/trace/trace_types.h"

namespace sm89 {

// Fills dests, sources and their counts, slots and uniform_address of `inst`, whose width, matrices and
// tensor are already decoded. Slots hold the general registers in reading order: an operand that the text
// does not name (a constant, an immediate) leaves no gap.
//
// Traces name only the first register of each operand, so runs are widened from the opcode. Where the text
// leaves a doubt (a 2-source IMAD.WIDE whose addend may be a constant), the narrower reading is taken and
// stated at the rule. RZ, URZ and PT carry no dependence and are left out. For stores the first source is
// the address; a single source is the data (the address is then an immediate or uniform).
void DecodeOperands(const OpcodeRow& row, const StaticInst& raw, DecodedInst* inst);

}  // namespace sm89
