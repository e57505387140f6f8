// Numbers of the two 16-bit formats for half_body.h. Internal to sim/num.
#pragma once

#include <cstdint>

namespace sm89::num {

// Numbers of one 16-bit format.
template <bool kBf16>
struct HalfTraits {
  static constexpr int kFraction = kBf16 ? 7 : 10;
  static constexpr int kBias = kBf16 ? 127 : 15;
  static constexpr int32_t kInfinity = kBf16 ? 0x7f80 : 0x7c00;
  static constexpr int32_t kOne = kBf16 ? 0x3f80 : 0x3c00;
  static constexpr int kDrop = 52 - kFraction;
  // Adding this to a magnitude rounds it to a multiple of the smallest subnormal, whose count is then in the
  // low bits of the sum.
  static constexpr double kSubnormalMagic = kBf16 ? 0x1p-81 : 0x1p28;
  static constexpr double kMinNormal = kBf16 ? 0x1p-126 : 0x1p-14;
};

}  // namespace sm89::num
