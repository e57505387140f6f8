// The conversions that machine-learning code is full of, in a form that vectorises; the same bits as
// sim/num's (a test compares them). NaN becomes the canonical NaN.
#pragma once

#include <bit>
#include <cstdint>

namespace sm89::emu {

// FP16 in the low 16 bits to FP32. The multiplication by 2^112 is exact and makes subnormals normal.
inline uint32_t SingleOfHalf(uint32_t half) {
  const uint32_t magnitude = (half & 0x7fff) << 13, sign = (half & 0x8000) << 16;
  const uint32_t finite = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  const uint32_t special = 0u - static_cast<uint32_t>(magnitude >= 0x0f800000);  // infinity or NaN
  const uint32_t is_nan = 0u - static_cast<uint32_t>(magnitude > 0x0f800000);
  const uint32_t number = (((finite & ~special) | (0x7f800000 & special)) | sign) & ~is_nan;
  return number | (0x7fffffff & is_nan);
}

// FP32 to FP16, nearest even. Below 2^-14 the addition of 0.5, whose last bit is worth 2^-24, rounds.
inline uint32_t HalfOfSingle(uint32_t single) {
  const uint32_t magnitude = single & 0x7fffffff, sign = single >> 16 & 0x8000;
  const uint32_t rounded = (magnitude + 0xfff + (magnitude >> 13 & 1)) >> 13;
  // Signed comparisons: SSE2 has no others, and all numbers here are small.
  const auto normal = static_cast<int32_t>(rounded) - (112 << 10);
  const uint32_t is_large = 0u - static_cast<uint32_t>(normal > 0x7c00);
  const uint32_t is_small = 0u - static_cast<uint32_t>(static_cast<int32_t>(magnitude) < 0x38800000);
  const uint32_t is_nan = 0u - static_cast<uint32_t>(static_cast<int32_t>(magnitude) > 0x7f800000);
  const uint32_t small =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude & is_small) + 0.5f) - 0x3f000000;
  const uint32_t large = (static_cast<uint32_t>(normal) & ~is_large) | (0x7c00 & is_large);
  const uint32_t number = (large & ~is_small) | (small & is_small) | sign;
  return (number & ~is_nan) | (0x7fff & is_nan);
}

// FP32 to BF16, nearest even.
inline uint32_t Bf16OfSingle(uint32_t single) {
  const uint32_t magnitude = single & 0x7fffffff;
  const uint32_t is_nan = 0u - static_cast<uint32_t>(static_cast<int32_t>(magnitude) > 0x7f800000);
  const uint32_t rounded = (single + 0x7fff + (single >> 16 & 1)) >> 16;
  return (rounded & ~is_nan) | (0x7fff & is_nan);
}

}  // namespace sm89::emu
