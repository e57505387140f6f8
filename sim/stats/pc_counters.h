// What the warps of a kernel did at each static instruction: issue counts and warp-cycles by state. Plain
// counters; sums over instructions equal the kernel's own statistics.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace sm89 {

inline constexpr int kNumWarpStates = 18;  // of WarpState, pc_profile.h

// Memory accesses of one static instruction. Sums over a kernel's instructions equal its own counters:
// `requests` l1_requests, `load_sectors` and `load_hits` those of global and local loads, `store_sectors`
// those of stores, `other_sectors` atomics and loads past the L1, `shared_*` theirs, `l2_read_*`
// l2_read_sectors and l2_read_hits.
struct PcMemory {
  uint64_t requests = 0;
  uint64_t load_sectors = 0;
  uint64_t load_hits = 0;
  uint64_t store_sectors = 0;
  uint64_t other_sectors = 0;
  uint64_t shared_accesses = 0;
  uint64_t shared_passes = 0;
  uint64_t shared_bank_conflicts = 0;
  uint64_t l2_read_sectors = 0;
  uint64_t l2_read_hits = 0;
};

// One static instruction. A warp that waits is counted at the instruction that it will issue next.
struct PcCounters {
  uint64_t issued = 0;                            // warp instructions
  uint64_t threads = 0;                           // active lanes of them
  std::array<uint64_t, kNumWarpStates> cycles{};  // warp-cycles by state
  PcMemory memory;
};

// By static id (sim/trace StaticTable), one table a kernel.
using PcProfile = std::vector<PcCounters>;

// dst += src, element by element; dst grows as needed.
void AddProfile(const PcProfile& src, PcProfile* dst);

}  // namespace sm89
