// What a resident warp does in a cycle, and what the warps of a kernel did at each static instruction: issue
// counts and warp-cycles by state. Plain counters; sums over instructions equal the kernel's own statistics.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/stats/sim_stats.h"

namespace sm89 {

// What a resident warp does in a cycle: Nsight Compute's warp states. The order is that of the columns of
// every table.
enum class WarpState : uint8_t {
  kSelected,
  kNotSelected,
  kLongScoreboard,
  kShortScoreboard,
  kWait,
  kMathPipeThrottle,
  kMioThrottle,
  kLgThrottle,
  kTexThrottle,
  kImcMiss,
  kBarrier,
  kMembar,
  kNoInstruction,
  kDispatch,
  kBranchResolving,
  kSleeping,
  kDrain,
  kMisc,
};
inline constexpr int kNumWarpStates = 18;
// "selected", "long_scoreboard" ... as in Nsight Compute's metric names.
std::string_view Name(WarpState state);
// Short form for columns: "selected", "long_sb", "short_sb", "math_pipe", "mio", "lg", "tex", "imc_miss",
// "no_inst", "branch" ... ("stall_long_sb" in CSVs).
std::string_view ShortName(WarpState state);

// The counter of each state, in the order of WarpState.
inline constexpr std::array<uint64_t SmStats::*, kNumWarpStates> kWarpStateCounters{
    &SmStats::stall_selected,         &SmStats::stall_not_selected, &SmStats::stall_long_scoreboard,
    &SmStats::stall_short_scoreboard, &SmStats::stall_wait,         &SmStats::stall_math_pipe_throttle,
    &SmStats::stall_mio_throttle,     &SmStats::stall_lg_throttle,  &SmStats::stall_tex_throttle,
    &SmStats::stall_imc_miss,         &SmStats::stall_barrier,      &SmStats::stall_membar,
    &SmStats::stall_no_instruction,   &SmStats::stall_dispatch,     &SmStats::stall_branch_resolving,
    &SmStats::stall_sleeping,         &SmStats::stall_drain,        &SmStats::stall_misc,
};
constexpr uint64_t SmStats::*CounterOf(WarpState state) {
  return kWarpStateCounters[static_cast<size_t>(state)];
}

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
