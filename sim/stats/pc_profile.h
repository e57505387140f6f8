// What a resident warp does in a cycle: 18 states, their names and their counters in SmStats. The profile by
// instruction (pc_counters.h) counts the same states.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/stats/pc_counters.h"
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
static_assert(static_cast<int>(WarpState::kMisc) + 1 == kNumWarpStates);
// One counter of PcMemory: "load_hits", its unit and its meaning.
struct PcMemoryDef {
  std::string_view name, unit, help;
  uint64_t PcMemory::*counter = nullptr;
};
inline constexpr int kNumPcMemory = 10;
extern const std::array<PcMemoryDef, kNumPcMemory> kPcMemoryDefs;
static_assert(sizeof(PcMemory) == kNumPcMemory * sizeof(uint64_t), "every counter has its row");

// Adds what an access added to a kernel's L1 statistics to the instruction that made it.
void AddAccess(const L1Stats& before, const L1Stats& after, PcMemory* memory);

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

}  // namespace sm89
