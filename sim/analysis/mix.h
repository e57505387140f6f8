// Static instruction mix.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/analysis/code.h"
#include "sim/isa/decoded_inst.h"

namespace sm89::analysis {

struct MixRow {
  std::string name;  // class or mnemonic
  uint32_t count = 0;
};
struct InstructionMix {
  uint32_t total = 0;             // without the filling at the end
  std::vector<MixRow> classes;    // by execution unit, in the unit's order, empty classes left out
  std::vector<MixRow> mnemonics;  // most frequent first, then by name
};
InstructionMix CountMix(const Code& code);

// Unit that executes an instruction: the timing model's table.
ExecUnit UnitOf(const sass::Instruction& inst);

std::string ToText(const InstructionMix& mix);
std::string ToJson(const InstructionMix& mix);

}  // namespace sm89::analysis
