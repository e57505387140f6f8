// A warp's state in words.
#pragma once

#include <string>

#include "sim/base/types.h"
#include "sim/sm/warp_view.h"

namespace sm89::debug {

// "barrier since cycle 54"; "dispatch, ready since cycle 54" of a warp whose next instruction could issue but
// for other warps, the issue port or its pipe: which of the three it is may change from cycle to cycle.
std::string StateText(const WarpView& view);
// What keeps the warp from issuing in cycle `now`: "until cycle 2131", "SB0 is 1 (long_scoreboard)",
// "barrier 0 has 3 of 8 warps".
std::string WhyText(const WarpView& view, Cycle now);
// "stall 4 yield write SB0 read SB1 wait SB2 SB3": the control bits of an instruction.
std::string ControlText(const ControlBits& bits);
// "SB0 1 (long_scoreboard)  SB1 0 ...".
std::string CountersText(const WarpView& view);

}  // namespace sm89::debug
