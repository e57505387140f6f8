// What compression does to the traffic of the L2 (sim/mem/L2.md): which lines have it, and how much of them
// moves. Traces hold no values, so that the ratio is a setting.
#pragma once

#include <cstdint>

#include "sim/base/types.h"
#include "sim/config/gpu_config.h"

namespace sm89 {

class L2Compression {
 public:
  explicit L2Compression(const L2FeatureConfig& features) : features_(features) {}

  // Whether the whole line lies in a range: one that a range holds in part is stored as it is.
  bool Covers(uint64_t line) const {
    const uint64_t first = line * kLineBytes;
    for (uint32_t i = 0; i < features_.num_compressed; ++i) {
      const AddressRange& range = features_.compressed[i];
      if (first >= range.first && first + (kLineBytes - 1) <= range.last) return true;
    }
    return false;
  }
  // Sectors that move of so many of a line.
  uint32_t Moved(uint32_t sectors, bool compressed) const {
    return compressed ? (sectors + features_.compression_ratio - 1) / features_.compression_ratio : sectors;
  }

 private:
  L2FeatureConfig features_;
};

}  // namespace sm89
