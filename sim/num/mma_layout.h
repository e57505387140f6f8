// Which lane, register and bit of a fragment holds which element of a matrix: the tables of mma.sync, mma.sp,
// ldmatrix and movmatrix (PTX ISA, "Matrix fragments for mma"), from one rule.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/num/mode.h"

namespace sm89::num {

enum class MmaType : uint8_t { kF16, kBf16, kTf32, kF64, kE4m3, kE5m2, kS8, kU8, kS4, kU4, kB1, kF32, kS32 };

unsigned BitsOf(MmaType type);

enum class BitOp : uint8_t { kXor = 0, kAnd = 2 };  // raw BOP field

// Whose arithmetic a floating-point product has: sm_89 or sm_90 (mma.sync).
enum class TensorCore : uint8_t { kAda, kHopper };

struct MmaDesc {
  int m = 16;
  int n = 8;
  int k = 16;  // of the dense product; a sparse A has k/2 stored columns
  MmaType a = MmaType::kF16;
  MmaType b = MmaType::kF16;
  MmaType acc = MmaType::kF32;  // C and D
  bool sparse = false;
  uint8_t selector = 0;   // sparse: the `id` field, which lanes of a quad hold metadata
  bool saturate = false;  // integer: clamp D to int32
  BitOp bit_op = BitOp::kXor;
  TensorCore core = TensorCore::kAda;
};

// Whether the shape and types are an instruction of sm_80..sm_90 mma.sync.
bool IsSupported(const MmaDesc& desc);

enum class Matrix : uint8_t { kA, kB, kC, kE };

// One element: in `lane`, bits [bit, bit+width) of the fragment's registers reg (and reg+1 for FP64).
struct Element {
  uint8_t lane = 0;
  uint8_t reg = 0;
  uint8_t bit = 0;
  uint16_t row = 0;
  uint16_t col = 0;  // kE: index of the 4-bit metadata group inside the row

  friend bool operator==(const Element&, const Element&) = default;
};

// Registers a lane gives to the matrix (kE: 1).
int RegsOf(const MmaDesc& desc, Matrix matrix);
int RowsOf(const MmaDesc& desc, Matrix matrix);
int ColsOf(const MmaDesc& desc, Matrix matrix);
// Position of one element.
Element Locate(const MmaDesc& desc, Matrix matrix, int row, int col);
// All elements, ordered by lane, register, bit. kE: only those of the selected lanes.
std::vector<Element> Layout(const MmaDesc& desc, Matrix matrix);

// ldmatrix: lane r of the r/8-th matrix gives the address of row r%8 (16 bytes). Element (row, col) of matrix
// j goes to register j of lane row*4 + col/2, half col%2; transposed: of lane col*4 + row/2, half row%2.
Element LocateLdmatrix(int matrix, int row, int col, bool transposed);

}  // namespace sm89::num
