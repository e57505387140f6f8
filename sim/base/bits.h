// Bit counts for the cycle loop. The baseline of x86-64 has no instruction for them, and the compiler's own
// function is a call into a shared library.
#pragma once

#include <cstdint>

namespace sm89 {

constexpr uint32_t CountBits(uint32_t bits) {
  bits -= bits >> 1 & 0x5555'5555u;
  bits = (bits & 0x3333'3333u) + (bits >> 2 & 0x3333'3333u);
  bits = (bits + (bits >> 4)) & 0x0F0F'0F0Fu;
  return bits * 0x0101'0101u >> 24;
}
constexpr uint32_t CountBits(uint64_t bits) {
  bits -= bits >> 1 & 0x5555'5555'5555'5555u;
  bits = (bits & 0x3333'3333'3333'3333u) + (bits >> 2 & 0x3333'3333'3333'3333u);
  bits = (bits + (bits >> 4)) & 0x0F0F'0F0F'0F0F'0F0Fu;
  return static_cast<uint32_t>(bits * 0x0101'0101'0101'0101u >> 56);
}

}  // namespace sm89
