// What one lane of an integer instruction computes: shared by the vector handlers and the uniform datapath.
//
// Sources: PTX ISA (shf, prmt, bfind, bmsk, szext, lop3) for the functions, observation of ptxas output for
// which machine form stands for which.
#pragma once

#include <bit>
#include <cstdint>

#include "sim/sass/fields.h"

namespace sm89::emu {

// Truth table of three inputs, index a*4 + b*2 + c, on every bit.
constexpr uint32_t Lut3(uint32_t lut, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t out = 0;
  for (uint32_t k = 0; k < 8; ++k) {
    if ((lut >> k & 1) == 0) continue;
    out |= ((k & 4) != 0 ? a : ~a) & ((k & 2) != 0 ? b : ~b) & ((k & 1) != 0 ? c : ~c);
  }
  return out;
}

struct ShiftMode {
  bool right = false;
  bool wrap = false;
  bool hi = false;         // the upper half of the 64-bit result
  bool wide = false;       // amounts up to 64 (U64, S64) instead of 32
  bool is_signed = false;  // right shifts copy the sign of the upper half
};

constexpr uint32_t ShiftAmount(const ShiftMode& m, uint32_t amount) {
  const uint32_t bits = m.wide ? 64 : 32;
  return m.wrap ? amount & (bits - 1) : (amount < bits ? amount : bits);
}

// Funnel shift of high:low.
constexpr uint32_t FunnelShift(const ShiftMode& m, uint32_t low, uint32_t amount, uint32_t high) {
  const uint32_t s = ShiftAmount(m, amount);
  const uint64_t value = low | static_cast<uint64_t>(high) << 32;
  uint64_t out = 0;
  if (!m.right) {
    out = s < 64 ? value << s : 0;
  } else if (m.is_signed) {
    out = static_cast<uint64_t>(static_cast<int64_t>(value) >> (s < 64 ? s : 63));
  } else {
    out = s < 64 ? value >> s : 0;
  }
  return static_cast<uint32_t>(m.hi ? out >> 32 : out);
}

constexpr uint32_t Ones(uint32_t count) { return count >= 32 ? ~0u : (1u << count) - 1; }

// `width` ones from bit `position` on.
constexpr uint32_t BitMask(uint32_t position, uint32_t width, bool wrap) {
  if (wrap) return Ones(width & 31) << (position & 31);
  return position >= 32 ? 0 : Ones(width) << position;
}

// The low `width` bits, extended to 32.
constexpr uint32_t Extend(uint32_t value, uint32_t width, bool wrap, bool is_signed) {
  const uint32_t w = wrap ? width & 31 : width;
  if (w >= 32) return value;
  if (w == 0) return 0;
  const uint32_t low = value & Ones(w);
  return is_signed && (low >> (w - 1)) != 0 ? low | ~Ones(w) : low;
}

constexpr uint32_t ReverseBits(uint32_t v) {
  v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
  v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
  v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
  v = (v >> 8 & 0x00ff00ffu) | (v & 0x00ff00ffu) << 8;
  return v >> 16 | v << 16;
}

// Highest bit that differs from the sign (unsigned: highest set bit), or with `shift_amount` how far it is
// from bit 31; all ones when there is none (PTX bfind).
constexpr uint32_t FindLeading(uint32_t value, bool is_signed, bool shift_amount) {
  const uint32_t v = is_signed && (value >> 31) != 0 ? ~value : value;
  if (v == 0) return ~0u;
  const auto zeros = static_cast<uint32_t>(std::countl_zero(v));
  return shift_amount ? zeros : 31 - zeros;
}

// 16-bit IDX selector of a PRMT mode (PTX prmt): the mode's table by the low two bits of `selector`.
constexpr uint32_t PermuteSelector(uint32_t mode, uint32_t selector) {
  constexpr uint32_t kTable[6][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543},  // F4E: forward extract
      {0x5670, 0x6701, 0x7012, 0x0123},  // B4E: backward extract
      {0x0000, 0x1111, 0x2222, 0x3333},  // RC8: one byte everywhere
      {0x3210, 0x3211, 0x3222, 0x3333},  // ECL: edge clamp left
      {0x0000, 0x1110, 0x2210, 0x3210},  // ECR: edge clamp right
      {0x1010, 0x3232, 0x1010, 0x3232},  // RC16: one half everywhere
  };
  return mode == sass::kPrmtIdx ? selector & 0xffff : kTable[mode - 1][selector & 3];
}

// Bytes of c:a by the four nibbles of `selector`; bit 3 of a nibble replicates the byte's sign instead.
constexpr uint32_t Permute(uint32_t a, uint32_t selector, uint32_t c) {
  const uint64_t bytes = a | static_cast<uint64_t>(c) << 32;
  uint32_t out = 0;
  for (uint32_t k = 0; k < 4; ++k) {
    const uint32_t nibble = selector >> (4 * k) & 15;
    uint32_t byte = static_cast<uint32_t>(bytes >> (8 * (nibble & 7))) & 0xff;
    if ((nibble & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    out |= byte << (8 * k);
  }
  return out;
}

constexpr bool CompareInt(uint32_t code, bool is_signed, uint32_t a, uint32_t b) {
  const bool less = is_signed ? static_cast<int32_t>(a) < static_cast<int32_t>(b) : a < b;
  // Icmp codes: bit 0 less, bit 1 equal, bit 2 greater.
  const uint32_t relation = a == b ? 2 : less ? 1 : 4;
  return (code & relation) != 0;
}

template <typename T>
constexpr T Combine(uint32_t bop, T a, T b) {
  return static_cast<T>(bop == sass::kBopAnd ? a & b : bop == sass::kBopOr ? a | b : a ^ b);
}

}  // namespace sm89::emu
