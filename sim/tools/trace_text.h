// Decoded instructions and their parts as people write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/isa/decoded_inst.h"
#include "sim/isa/register_text.h"

namespace sm89 {

std::string_view Name(ControlOp op);
std::string_view Name(Scope scope);
std::string_view Name(TensorType type);

// "m16n8k16 f16 x f16 -> f32"; empty for other than tensor instructions.
std::string TensorText(const TensorOp& op);
// "0x00007f4e00000000" without the leading zeros.
std::string HexText(uint64_t value);
std::string DimText(const Dim3& dim);  // "1,2,3"

}  // namespace sm89
