// Fragments to plain matrices and back, for mma.cc. Internal to sim/num.
#pragma once

#include <array>
#include <cstdint>

#include "sim/num/mma.h"

namespace sm89::num {

inline constexpr int kMmaRowsMax = 16;
inline constexpr int kMmaStoredMax = 64;  // stored columns of A: int4 sparse 128 / 2
inline constexpr int kMmaColsMax = 128;   // rows of B
inline constexpr int kMmaFloatStoredMax =
    32;  // stored columns of A in floating-point shapes: FP8 sparse 64 / 2
inline constexpr int kMmaFloatColsMax = 64;
inline constexpr int kMmaN = 8;

// Calls take(row, col, word, shift) for every element of A (rows = m) or of B transposed (rows = n), at most
// 32 bits wide.
template <typename Take>
inline __attribute__((always_inline)) void ForEachTiled(const uint32_t* const* regs, int rows, int cols,
                                                        int bits, Take take) {
  const int per_lane = 32 / bits;
  const int row_tiles = rows / 8;
  const int tiles = row_tiles * (cols / (4 * per_lane));
  for (int tile = 0; tile < tiles; ++tile) {
    const int row_base = (tile % row_tiles) * 8;
    const int col_base = (tile / row_tiles) * 4 * per_lane;
    for (int lane = 0; lane < kLanes; ++lane) {
      const uint32_t word = regs[tile][lane];
      const int col = col_base + (lane % 4) * per_lane;
      for (int i = 0; i < per_lane; ++i) take(row_base + lane / 4, col + i, word, i * bits);
    }
  }
}

// columns[row][i]: the dense column of stored element i of A's row.
using SparseColumns = std::array<std::array<uint8_t, kMmaStoredMax>, kMmaRowsMax>;
void DenseColumns(const MmaDesc& desc, const uint32_t* metadata, SparseColumns* columns);

// Row `i` of a C or D fragment of 32-bit elements, and back.
using Accumulators = std::array<std::array<uint32_t, kMmaN>, kMmaRowsMax>;
void UnpackAccumulators(const MmaDesc& desc, const uint32_t* const* regs, Accumulators* out);
void PackAccumulators(const MmaDesc& desc, const Accumulators& in, uint32_t* const* regs);

// Integer, bit and FP64 products (mma_int.cc).
void MmaInteger(const MmaDesc& desc, const MmaRegs& regs);
void MmaBits(const MmaDesc& desc, const MmaRegs& regs);
void MmaDouble(const MmaDesc& desc, const MmaRegs& regs);

}  // namespace sm89::num
