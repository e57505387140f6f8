// How many registers an operand covers, where that depends on modifiers.
#pragma once

#include "sim/sass/form_table.h"
#include "sim/sass/instruction.h"

namespace sm89::sass {

// `inst` needs its form and word only.
uint8_t RegistersOf(const OperandSpec& spec, const Instruction& inst);

}  // namespace sm89::sass
