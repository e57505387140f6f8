// Numbers as the disassembler spells them.
#pragma once

#include <cstdint>
#include <string>

namespace sm89::sass {

std::string HexText(int64_t value);     // "-0x1f"
std::string FloatText(uint32_t bits);   // FP32
std::string DoubleText(uint64_t bits);  // FP64
std::string HalfText(uint16_t bits);    // FP16
std::string Bfloat16Text(uint16_t bits);

}  // namespace sm89::sass
