// S2R, S2UR, CS2R.
#pragma once

#include "absl/status/status.h"
#include "sim/emu/exec.h"

namespace sm89::emu {

absl::Status CompileSpecial(const sass::Instruction& inst, Compiled* c);

}  // namespace sm89::emu
