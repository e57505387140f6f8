// Registers by the calling convention of sm_8x and sm_90, as the life-range tables of our corpus show it.
#pragma once

#include "sim/analysis/code.h"
#include "sim/analysis/effects.h"

namespace sm89::analysis {

struct CallConvention {
  RegSet call_writes;   // scratch: a call may leave anything in them
  RegSet call_reads;    // R0, which a call's unused operand field names
  RegSet return_reads;  // callee-saved: the caller may need them
};
// General registers up to the function's register count; predicates and uniform registers up to the highest
// one that any function of the module touches.
CallConvention ConventionOf(const Code& code);

}  // namespace sm89::analysis
