// Plain value types that every layer shares.
#pragma once

#include <cstdint>

namespace sm89 {

// A point in simulated time, in SM core clock cycles since the start of the run. 64 bits: never wraps.
using Cycle = uint64_t;
inline constexpr Cycle kNever = ~Cycle{0};

// One bit a lane, bit 0 = lane 0.
using LaneMask = uint32_t;
inline constexpr int kWarpSize = 32;

// CUDA dimensions or a CTA's coordinates; x varies fastest.
struct Dim3 {
  uint32_t x = 0;
  uint32_t y = 0;
  uint32_t z = 0;

  friend bool operator==(const Dim3&, const Dim3&) = default;
};

// Product x*y*z, saturating at 2^64-1 instead of wrapping.
constexpr uint64_t SaturatingVolume(const Dim3& d) {
  const uint64_t xy = uint64_t{d.x} * d.y;
  return d.z != 0 && xy > ~uint64_t{0} / d.z ? ~uint64_t{0} : xy * d.z;
}

// Memory granules of the architecture (NVIDIA CUDA programming guide): a cache line of four sectors.
inline constexpr uint32_t kSectorBytes = 32;
inline constexpr uint32_t kLineBytes = 128;
inline constexpr uint32_t kSectorsPerLine = kLineBytes / kSectorBytes;

}  // namespace sm89
