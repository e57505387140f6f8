#include "sim/num/mma_layout.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "sim/base/assert.h"

// One rule gives all fragments of sm_80..sm_90 mma.sync: A and the transpose of B are tiles of 8 rows by 128
// bits (256 for FP64), row r of a tile in lanes 4r..4r+3, one register a lane and tile; tiles go down the
// rows first. C and D are tiles of 8x8, two neighbouring elements a lane. (Read off the figures of the PTX
// ISA; tests check single elements against its formulas.)
namespace sm89::num {
namespace {

struct ShapeRow {
  int m, n, k;
  bool sparse;
  int element_bits;  // of A
};

constexpr ShapeRow kShapes[] = {
    {16, 8, 8, false, 16},  {16, 8, 16, false, 16}, {16, 8, 16, true, 16}, {16, 8, 32, true, 16},
    {16, 8, 4, false, 32},  {16, 8, 8, false, 32},  {16, 8, 8, true, 32},  {16, 8, 16, true, 32},
    {8, 8, 16, false, 8},   {16, 8, 16, false, 8},  {16, 8, 32, false, 8}, {16, 8, 32, true, 8},
    {16, 8, 64, true, 8},   {8, 8, 32, false, 4},   {16, 8, 32, false, 4}, {16, 8, 64, false, 4},
    {16, 8, 64, true, 4},   {16, 8, 128, true, 4},  {8, 8, 128, false, 1}, {16, 8, 128, false, 1},
    {16, 8, 256, false, 1}, {8, 8, 4, false, 64},   {16, 8, 4, false, 64}, {16, 8, 8, false, 64},
    {16, 8, 16, false, 64},
};

bool IsFp8(MmaType type) { return type == MmaType::kE4m3 || type == MmaType::kE5m2; }
bool IsInt8(MmaType type) { return type == MmaType::kS8 || type == MmaType::kU8; }
bool IsInt4(MmaType type) { return type == MmaType::kS4 || type == MmaType::kU4; }

bool TypesAgree(const MmaDesc& desc) {
  const MmaType a = desc.a;
  const MmaType acc = desc.acc;
  const bool float_acc = acc == MmaType::kF32 || acc == MmaType::kF16;
  if (IsFp8(a)) return IsFp8(desc.b) && float_acc && desc.m == 16;
  if (IsInt8(a)) return IsInt8(desc.b) && acc == MmaType::kS32;
  if (IsInt4(a)) return IsInt4(desc.b) && acc == MmaType::kS32;
  if (a != desc.b) return false;
  if (a == MmaType::kF16) return float_acc;
  if (a == MmaType::kBf16 || a == MmaType::kTf32) return acc == MmaType::kF32;
  if (a == MmaType::kB1) return acc == MmaType::kS32;
  return a == MmaType::kF64 && acc == MmaType::kF64;
}

MmaType TypeOf(const MmaDesc& desc, Matrix matrix) {
  return matrix == Matrix::kA ? desc.a : (matrix == Matrix::kB ? desc.b : desc.acc);
}

// Lanes and registers of a tiled operand, `row` and `col` counted in A (or B transposed).
Element LocateTiled(int rows, int bits, int row, int col) {
  const int per_lane = bits >= 32 ? 1 : 32 / bits;
  const int registers = bits == 64 ? 2 : 1;
  const int tile_cols = 4 * per_lane;
  const int tile = (col / tile_cols) * (rows / 8) + row / 8;
  Element element;
  element.lane = static_cast<uint8_t>((row % 8) * 4 + (col % tile_cols) / per_lane);
  element.reg = static_cast<uint8_t>(tile * registers);
  element.bit = static_cast<uint8_t>(bits >= 32 ? 0 : (col % per_lane) * bits);
  return element;
}

Element LocateAccumulator(int bits, int row, int col) {
  Element element;
  element.lane = static_cast<uint8_t>((row % 8) * 4 + col / 2);
  const int half = row / 8;
  const int odd = col % 2;
  if (bits == 16) {
    element.reg = static_cast<uint8_t>(half);
    element.bit = static_cast<uint8_t>(odd * 16);
  } else {
    element.reg = static_cast<uint8_t>((half * 2 + odd) * (bits / 32));
  }
  return element;
}

// Four bits of metadata stand for a group of 4 elements (8 of 4-bit types, 2 of TF32).
int GroupsOf(const MmaDesc& desc) {
  const unsigned bits = BitsOf(desc.a);
  return desc.k / (bits == 4 ? 8 : (bits == 32 ? 2 : 4));
}

// Metadata: 16-bit types and TF32 keep rows r and r+8 in the halves of one lane's word (4 groups each); 8-
// and 4-bit types give each row a word of its own (8 groups). The selector says which lanes of the quad are
// read.
Element LocateMetadata(const MmaDesc& desc, int row, int group) {
  const int groups = GroupsOf(desc);
  const int low_row = row % 8;
  const int upper = row / 8;
  int lane_in_quad = 0;
  int bit = 0;
  if (BitsOf(desc.a) >= 16) {
    lane_in_quad = groups == 4 ? desc.selector & 3 : 2 * (desc.selector & 1) + group / 4;
    bit = upper * 16 + (group % 4) * 4;
  } else {
    lane_in_quad = groups == 8 ? 2 * (desc.selector & 1) + upper : 2 * (group / 8) + upper;
    bit = (group % 8) * 4;
  }
  Element element;
  element.lane = static_cast<uint8_t>(low_row * 4 + lane_in_quad);
  element.bit = static_cast<uint8_t>(bit);
  return element;
}

}  // namespace

unsigned BitsOf(MmaType type) {
  switch (type) {
    case MmaType::kF16:
    case MmaType::kBf16:
      return 16;
    case MmaType::kTf32:
    case MmaType::kF32:
    case MmaType::kS32:
      return 32;
    case MmaType::kF64:
      return 64;
    case MmaType::kE4m3:
    case MmaType::kE5m2:
    case MmaType::kS8:
    case MmaType::kU8:
      return 8;
    case MmaType::kS4:
    case MmaType::kU4:
      return 4;
    case MmaType::kB1:
      return 1;
  }
  return 0;
}

bool IsSupported(const MmaDesc& desc) {
  if (!TypesAgree(desc)) return false;
  return std::any_of(std::begin(kShapes), std::end(kShapes), [&](const ShapeRow& row) {
    return row.m == desc.m && row.n == desc.n && row.k == desc.k && row.sparse == desc.sparse &&
           row.element_bits == static_cast<int>(BitsOf(desc.a));
  });
}

int RowsOf(const MmaDesc& desc, Matrix matrix) { return matrix == Matrix::kB ? desc.k : desc.m; }

int ColsOf(const MmaDesc& desc, Matrix matrix) {
  switch (matrix) {
    case Matrix::kA:
      return desc.sparse ? desc.k / 2 : desc.k;
    case Matrix::kB:
    case Matrix::kC:
      return desc.n;
    case Matrix::kE:
      return desc.sparse ? GroupsOf(desc) : 0;
  }
  return 0;
}

int RegsOf(const MmaDesc& desc, Matrix matrix) {
  if (matrix == Matrix::kE) return desc.sparse ? 1 : 0;
  const int bits = static_cast<int>(BitsOf(TypeOf(desc, matrix)));
  return std::max(1, RowsOf(desc, matrix) * ColsOf(desc, matrix) * bits / (32 * kLanes));
}

Element Locate(const MmaDesc& desc, Matrix matrix, int row, int col) {
  SM89_ASSERT(row >= 0 && row < RowsOf(desc, matrix), "row outside the matrix");
  SM89_ASSERT(col >= 0 && col < ColsOf(desc, matrix), "column outside the matrix");
  const int bits = static_cast<int>(BitsOf(TypeOf(desc, matrix)));
  Element element;
  switch (matrix) {
    case Matrix::kA:
      element = LocateTiled(desc.m, bits, row, col);
      break;
    case Matrix::kB:
      element = LocateTiled(desc.n, bits, col, row);
      break;
    case Matrix::kC:
      element = LocateAccumulator(bits, row, col);
      break;
    case Matrix::kE:
      element = LocateMetadata(desc, row, col);
      break;
  }
  element.row = static_cast<uint16_t>(row);
  element.col = static_cast<uint16_t>(col);
  return element;
}

std::vector<Element> Layout(const MmaDesc& desc, Matrix matrix) {
  std::vector<Element> elements;
  for (int row = 0; row < RowsOf(desc, matrix); ++row) {
    for (int col = 0; col < ColsOf(desc, matrix); ++col) elements.push_back(Locate(desc, matrix, row, col));
  }
  std::sort(elements.begin(), elements.end(), [](const Element& x, const Element& y) {
    return std::tie(x.lane, x.reg, x.bit) < std::tie(y.lane, y.reg, y.bit);
  });
  return elements;
}

Element LocateLdmatrix(int matrix, int row, int col, bool transposed) {
  const int major = transposed ? col : row;
  const int minor = transposed ? row : col;
  Element element;
  element.lane = static_cast<uint8_t>(major * 4 + minor / 2);
  element.reg = static_cast<uint8_t>(matrix);
  element.bit = static_cast<uint8_t>((minor % 2) * 16);
  element.row = static_cast<uint16_t>(row);
  element.col = static_cast<uint16_t>(col);
  return element;
}

}  // namespace sm89::num
