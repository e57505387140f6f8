#include <algorithm>
#include <bit>
#include <limits>

#include "sim/num/fp64.h"
#include "sim/num/mma_unpack.h"

namespace sm89::num {
namespace {

int32_t Extract(uint32_t word, int shift, int bits, bool is_signed) {
  const uint32_t raw = word << (32 - bits - shift);
  return is_signed ? static_cast<int32_t>(raw) >> (32 - bits) : static_cast<int32_t>(raw >> (32 - bits));
}

bool IsSignedType(MmaType type) { return type == MmaType::kS8 || type == MmaType::kS4; }

uint64_t PairAt(const uint32_t* const* regs, int first, int lane) {
  return regs[first][lane] | (uint64_t{regs[first + 1][lane]} << 32);
}

}  // namespace

void DenseColumns(const MmaDesc& desc, const uint32_t* metadata, SparseColumns* columns) {
  const int stored = ColsOf(desc, Matrix::kA);
  if (!desc.sparse) {
    for (auto& row : *columns) {
      for (int i = 0; i < stored; ++i) row[i] = static_cast<uint8_t>(i);
    }
    return;
  }
  const unsigned bits = BitsOf(desc.a);
  for (int row = 0; row < desc.m; ++row) {
    for (int group = 0; group < ColsOf(desc, Matrix::kE); ++group) {
      const Element at = Locate(desc, Matrix::kE, row, group);
      const uint32_t code = (metadata[at.lane] >> at.bit) & 15;
      const int low = static_cast<int>(code & 3);
      const int high = static_cast<int>(code >> 2);
      auto& out = (*columns)[row];
      if (bits == 32) {
        // TF32: 0100 is the first of two elements, 1110 the second (a TF32 counts as two 16-bit units).
        out[group] = static_cast<uint8_t>(group * 2 + low / 2);
      } else if (bits == 4) {
        for (int i = 0; i < 2; ++i) {
          out[group * 4 + i] = static_cast<uint8_t>(group * 8 + low * 2 + i);
          out[group * 4 + 2 + i] = static_cast<uint8_t>(group * 8 + high * 2 + i);
        }
      } else {
        out[group * 2] = static_cast<uint8_t>(group * 4 + low);
        out[group * 2 + 1] = static_cast<uint8_t>(group * 4 + high);
      }
    }
  }
}

void UnpackAccumulators(const MmaDesc& desc, const uint32_t* const* regs, Accumulators* out) {
  const bool halves = BitsOf(desc.acc) == 16;
  for (int row = 0; row < desc.m; ++row) {
    for (int col = 0; col < kMmaN; ++col) {
      const int lane = (row % 8) * 4 + col / 2;
      if (halves) {
        (*out)[row][col] = (regs[row / 8][lane] >> ((col % 2) * 16)) & 0xffffu;
      } else {
        (*out)[row][col] = regs[(row / 8) * 2 + col % 2][lane];
      }
    }
  }
}

void PackAccumulators(const MmaDesc& desc, const Accumulators& in, uint32_t* const* regs) {
  const bool halves = BitsOf(desc.acc) == 16;
  for (int row = 0; row < desc.m; ++row) {
    for (int col = 0; col < kMmaN; col += 2) {
      const int lane = (row % 8) * 4 + col / 2;
      if (halves) {
        regs[row / 8][lane] = in[row][col] | (in[row][col + 1] << 16);
      } else {
        regs[(row / 8) * 2][lane] = in[row][col];
        regs[(row / 8) * 2 + 1][lane] = in[row][col + 1];
      }
    }
  }
}

void MmaInteger(const MmaDesc& desc, const MmaRegs& regs) {
  static_assert(kMmaStoredMax * 2 == kMmaColsMax);
  int32_t a[kMmaRowsMax][kMmaStoredMax];
  int32_t b[kMmaColsMax][kMmaN];
  const int bits = static_cast<int>(BitsOf(desc.a));
  const int stored = ColsOf(desc, Matrix::kA);
  const bool a_signed = IsSignedType(desc.a);
  const bool b_signed = IsSignedType(desc.b);
  ForEachTiled(regs.a, desc.m, stored, bits, [&](int row, int col, uint32_t word, int shift) {
    a[row][col] = Extract(word, shift, bits, a_signed);
  });
  ForEachTiled(regs.b, kMmaN, desc.k, bits, [&](int n, int k, uint32_t word, int shift) {
    b[k][n] = Extract(word, shift, bits, b_signed);
  });
  SparseColumns columns;
  DenseColumns(desc, regs.e, &columns);
  Accumulators acc;
  UnpackAccumulators(desc, regs.c, &acc);
  for (int row = 0; row < desc.m; ++row) {
    // At most 128 * 255 * 255: fits in 32 bits.
    int32_t dot[kMmaN] = {};
    for (int i = 0; i < stored; ++i) {
      const int32_t* const b_row = b[columns[row][i]];
      for (int n = 0; n < kMmaN; ++n) dot[n] += a[row][i] * b_row[n];
    }
    for (int n = 0; n < kMmaN; ++n) {
      int64_t sum = int64_t{static_cast<int32_t>(acc[row][n])} + dot[n];
      if (desc.saturate) {
        sum = std::clamp<int64_t>(sum, std::numeric_limits<int32_t>::min(),
                                  std::numeric_limits<int32_t>::max());
      }
      acc[row][n] = static_cast<uint32_t>(sum);
    }
  }
  PackAccumulators(desc, acc, regs.d);
}

void MmaBits(const MmaDesc& desc, const MmaRegs& regs) {
  Accumulators acc;
  UnpackAccumulators(desc, regs.c, &acc);
  const int row_tiles = desc.m / 8;
  const int col_tiles = desc.k / 128;
  for (int row = 0; row < desc.m; ++row) {
    for (int n = 0; n < kMmaN; ++n) {
      uint32_t count = 0;
      for (int tile = 0; tile < col_tiles; ++tile) {
        for (int quad = 0; quad < 4; ++quad) {
          const uint32_t x = regs.a[tile * row_tiles + row / 8][(row % 8) * 4 + quad];
          const uint32_t y = regs.b[tile][n * 4 + quad];
          count += static_cast<uint32_t>(std::popcount(desc.bit_op == BitOp::kAnd ? x & y : x ^ y));
        }
      }
      acc[row][n] += count;
    }
  }
  PackAccumulators(desc, acc, regs.d);
}

void MmaDouble(const MmaDesc& desc, const MmaRegs& regs) {
  uint64_t out[kMmaRowsMax][kMmaN];
  const int row_tiles = desc.m / 8;
  for (int row = 0; row < desc.m; ++row) {
    for (int n = 0; n < kMmaN; ++n) {
      uint64_t sum = PairAt(regs.c, ((row / 8) * 2 + n % 2) * 2, (row % 8) * 4 + n / 2);
      for (int k = 0; k < desc.k; ++k) {
        const uint64_t x = PairAt(regs.a, ((k / 4) * row_tiles + row / 8) * 2, (row % 8) * 4 + k % 4);
        const uint64_t y = PairAt(regs.b, (k / 4) * 2, n * 4 + k % 4);
        sum = Dfma(x, y, sum, Round::kRn);
      }
      out[row][n] = sum;
    }
  }
  for (int row = 0; row < desc.m; ++row) {
    for (int n = 0; n < kMmaN; ++n) {
      const int reg = ((row / 8) * 2 + n % 2) * 2;
      const int lane = (row % 8) * 4 + n / 2;
      regs.d[reg][lane] = static_cast<uint32_t>(out[row][n]);
      regs.d[reg + 1][lane] = static_cast<uint32_t>(out[row][n] >> 32);
    }
  }
}

}  // namespace sm89::num
