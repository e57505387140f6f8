// What one executed memory instruction asks of the memory system, as the timing model sees it: the same
// classification, coalescing and bank rules (sim/sm/coalescer.h), without any timing.
#pragma once

#include <cstdint>

#include "sim/sm/kernel_code.h"
#include "sim/trace/compact_reader.h"

namespace sm89 {

// A generic instruction may touch all three spaces at once. Sectors are 32 bytes, lines 128.
//
// Generic addresses are classified a lane, by the kernel's two windows independently; each window is taken to
// be 16 MiB (an assumption: real windows lie 32 MiB apart). Local addresses are offsets inside a thread's
// own memory, interleaved by thread: offset o of lane l lies at (o / 4) * 128 + l * 4.
struct AccessSummary {
  bool accesses_memory = false;  // false: no active lane, no addresses, or not a memory space
  uint32_t global_sectors = 0;
  uint32_t global_lines = 0;
  uint32_t local_sectors = 0;
  uint32_t local_lines = 0;
  uint32_t shared_passes = 0;      // over the 32 banks; 0 = no lane in shared memory
  uint32_t shared_passes_min = 0;  // what the width alone needs; the rest are bank conflicts

  uint32_t bank_conflict_passes() const { return shared_passes - shared_passes_min; }
};

AccessSummary SummarizeAccess(const KernelCode& kernel, const DynInst& inst);

}  // namespace sm89
