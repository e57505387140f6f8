// What is not known of the barriers of a kernel, and whether that can change who waits for whom.
#pragma once

#include <cstdint>
#include <span>

#include "sim/isa/decoded_inst.h"
#include "sim/trace/trace_types.h"

namespace sm89 {

struct BarrierUse {
  // Some BAR may have a number or a count of threads that nobody knows; the model takes the whole CTA then.
  bool unknown = false;
  // It matters, as far as one can see: several barriers, arrivals without waiting (BAR.ARV), or a count whose
  // barrier is not told, in a kernel that has such a BAR.
  bool partial = false;
  // There is machine code: what is not known is in registers, and a listing would not tell it.
  bool in_registers = false;
};

// `kernel` is `table` decoded. Text traces give the last immediate of a BAR at most, so never both number and
// count.
BarrierUse BarrierUseOf(std::span<const StaticInst> table, const DecodedKernel& kernel,
                        uint32_t binary_version);

}  // namespace sm89
