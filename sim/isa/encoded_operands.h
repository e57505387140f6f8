// Exact operands from the 16-byte encoding of an instruction.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "sim/isa/decoded_inst.h"
#include "sim/sass/instruction.h"
#include "sim/trace/trace_types.h"

namespace sm89 {

// The instruction that `raw.encoding` is.
absl::StatusOr<sass::Instruction> DecodeEncoding(const StaticInst& raw, uint32_t binary_version);

// Replaces dests, sources, slots, uniform_address, guarded, the constant operand and the fields of BAR and
// DEPBAR by what `raw.encoding` says. Leaves `inst` as it is and returns false when the encoding is of an
// architecture or a form that the machine-code table does not have.
bool DecodeEncodedOperands(const StaticInst& raw, uint32_t binary_version, DecodedInst* inst);

}  // namespace sm89
