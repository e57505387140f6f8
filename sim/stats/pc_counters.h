// What the warps of a kernel did at each static instruction: issue counts and warp-cycles by state. Plain
// counters; sums over instructions equal the kernel's own statistics.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace sm89 {

inline constexpr int kNumWarpStates = 18;  // of WarpState, pc_profile.h

// One static instruction. A warp that waits is counted at the instruction that it will issue next.
struct PcCounters {
  uint64_t issued = 0;                            // warp instructions
  uint64_t threads = 0;                           // active lanes of them
  std::array<uint64_t, kNumWarpStates> cycles{};  // warp-cycles by state
};

// By static id (sim/trace StaticTable), one table a kernel.
using PcProfile = std::vector<PcCounters>;

// dst += src, element by element; dst grows as needed.
void AddProfile(const PcProfile& src, PcProfile* dst);

}  // namespace sm89
