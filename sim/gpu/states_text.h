// How many warps are in which state, as people read it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sim/stats/pc_profile.h"

namespace sm89 {

// "12 resident warps: barrier 8, long_scoreboard 4", the largest first.
std::string StatesText(const std::array<uint64_t, kNumWarpStates>& warps);

}  // namespace sm89
