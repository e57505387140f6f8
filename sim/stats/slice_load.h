// How evenly a kernel's requests met the slices of the L2.
#pragma once

#include <cstdint>

namespace sm89 {

struct SliceLoad {
  uint32_t slices = 0;
  uint64_t sectors = 0;      // asked of all slices: reads, writes, atomics
  uint64_t max_sectors = 0;  // of the busiest slice
  uint64_t min_sectors = 0;

  // 1 when even; 0 when nothing was asked.
  double MaxOverMean() const {
    return sectors == 0 ? 0 : static_cast<double>(max_sectors) * slices / static_cast<double>(sectors);
  }
};

}  // namespace sm89
