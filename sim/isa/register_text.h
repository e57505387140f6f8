// Registers as people write them.
#pragma once

#include <string>

#include "sim/isa/decoded_inst.h"

namespace sm89 {

// "R4", "R4-R7", "RZ", "UR2", "P0", "PT", "UP1", "UPT".
std::string RegistersText(const RegRange& range);

}  // namespace sm89
