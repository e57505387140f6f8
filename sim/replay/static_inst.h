// Machine instructions as the trace format lists static instructions.
#pragma once

#include <cstdint>

#include "sim/sass/instruction.h"
#include "sim/trace/trace_types.h"

namespace sm89 {

// `pc`: bytes from the kernel's start; `line`: of the source, 0 = unknown. Registers stand as in a tracer's
// text (the first of each run, RZ left out, a memory descriptor after the address); the encoding carries
// everything else.
StaticInst MakeStaticInst(const sass::Instruction& inst, uint32_t pc, uint32_t line);

}  // namespace sm89
