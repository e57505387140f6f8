// What the writer and the reader of packages share (PROGRAM.md).
#pragma once

#include <cstdint>
#include <string_view>

namespace sm89 {

inline constexpr std::string_view kProgramMagic{"SM89PRG\n", 8};
inline constexpr uint64_t kProgramVersion = 1;

}  // namespace sm89
