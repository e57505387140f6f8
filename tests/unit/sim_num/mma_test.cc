#include "sim/num/mma.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "sim/num/half.h"
#include "tests/unit/sim_num/mma_shapes.h"
#include "tests/unit/sim_num/reference.h"

namespace sm89::num {
namespace {

using testing::AllMmaDescs;
using testing::BitsOfDouble;
using testing::BitsOfFloat;
using testing::DoubleOf;
using testing::FloatOf;
using testing::NameOf;
using testing::Operands;

bool IsFloat(const MmaDesc& desc) { return desc.acc == MmaType::kF32 || desc.acc == MmaType::kF16; }

// The registers of one warp, with access to single elements through the layout table.
class Warp {
 public:
  explicit Warp(const MmaDesc& desc) : desc_(desc) {}

  MmaRegs Regs() {
    MmaRegs regs;
    for (int i = 0; i < 16; ++i) regs.a[i] = a_[i];
    for (int i = 0; i < 8; ++i) {
      regs.b[i] = b_[i];
      regs.c[i] = c_[i];
      regs.d[i] = d_[i];
    }
    regs.e = e_;
    return regs;
  }
  void Set(Matrix matrix, int row, int col, uint64_t bits) {
    const Element at = Locate(desc_, matrix, row, col);
    Write(matrix, at, bits);
  }
  uint64_t Get(Matrix matrix, int row, int col) { return Read(RowsFor(matrix), matrix, row, col); }
  uint64_t Result(int row, int col) { return Read(d_, Matrix::kC, row, col); }
  void CopyResult(uint32_t* out) const { std::memcpy(out, d_, sizeof(d_)); }

 private:
  unsigned Width(Matrix matrix) const {
    if (matrix == Matrix::kE) return 4;
    return BitsOf(matrix == Matrix::kA ? desc_.a : (matrix == Matrix::kB ? desc_.b : desc_.acc));
  }
  uint32_t (*RowsFor(Matrix matrix))[32] {
    return matrix == Matrix::kA ? a_ : (matrix == Matrix::kB ? b_ : (matrix == Matrix::kC ? c_ : &e_));
  }
  void Write(Matrix matrix, const Element& at, uint64_t bits) {
    uint32_t(*rows)[32] = RowsFor(matrix);
    const unsigned width = Width(matrix);
    if (width == 64) {
      rows[at.reg][at.lane] = static_cast<uint32_t>(bits);
      rows[at.reg + 1][at.lane] = static_cast<uint32_t>(bits >> 32);
      return;
    }
    const uint32_t mask = width == 32 ? ~uint32_t{0} : ((1u << width) - 1) << at.bit;
    uint32_t& word = rows[at.reg][at.lane];
    word = (word & ~mask) | ((static_cast<uint32_t>(bits) << at.bit) & mask);
  }
  uint64_t Read(uint32_t (*rows)[32], Matrix matrix, int row, int col) {
    const Element at = Locate(desc_, matrix, row, col);
    const unsigned width = Width(matrix);
    if (width == 64) return rows[at.reg][at.lane] | (uint64_t{rows[at.reg + 1][at.lane]} << 32);
    const uint32_t word = rows[at.reg][at.lane] >> at.bit;
    return width == 32 ? word : word & ((1u << width) - 1);
  }

  MmaDesc desc_;
  uint32_t a_[16][32] = {};
  uint32_t b_[8][32] = {};
  uint32_t c_[8][32] = {};
  uint32_t d_[8][32] = {};
  uint32_t e_[32] = {};
};

double ValueOf(MmaType type, uint64_t bits) {
  switch (type) {
    case MmaType::kF16:
      return FloatOf(Fp16ToFp32(static_cast<uint16_t>(bits)));
    case MmaType::kBf16:
      return FloatOf(Bf16ToFp32(static_cast<uint16_t>(bits)));
    case MmaType::kTf32:
      return FloatOf(static_cast<uint32_t>(bits) & 0xffffe000u);
    case MmaType::kE4m3:
      return FloatOf(E4m3ToFp32(static_cast<uint8_t>(bits)));
    case MmaType::kE5m2:
      return FloatOf(E5m2ToFp32(static_cast<uint8_t>(bits)));
    case MmaType::kF32:
      return FloatOf(static_cast<uint32_t>(bits));
    case MmaType::kF64:
      return DoubleOf(bits);
    case MmaType::kS8:
      return static_cast<int8_t>(bits);
    case MmaType::kS4:
      return static_cast<int>(bits & 7) - static_cast<int>(bits & 8);
    case MmaType::kS32:
      return static_cast<int32_t>(static_cast<uint32_t>(bits));
    default:
      return static_cast<double>(bits);
  }
}

// A number of about one, or any integer.
uint64_t RandomElement(MmaType type, Operands* operands) {
  const uint64_t raw = operands->Raw();
  const float value = (static_cast<float>(raw & 0xffff) / 32768.0f - 1.0f) * 2.0f;
  switch (type) {
    case MmaType::kF16:
      return Fp32ToFp16(BitsOfFloat(value));
    case MmaType::kBf16:
      return Fp32ToBf16(BitsOfFloat(value));
    case MmaType::kE4m3:
      return Fp32ToE4m3(BitsOfFloat(value));
    case MmaType::kE5m2:
      return Fp32ToE5m2(BitsOfFloat(value));
    case MmaType::kTf32:
    case MmaType::kF32:
      return BitsOfFloat(value);
    case MmaType::kF64:
      return BitsOfDouble(static_cast<double>(value));
    case MmaType::kS32:
      return raw & 0xffffffffu;
    default:
      return raw & ((uint64_t{1} << BitsOf(type)) - 1);
  }
}

// Two of four (or one of two) positions, ascending, as metadata stores them.
uint32_t RandomGroup(const MmaDesc& desc, Operands* operands) {
  if (BitsOf(desc.a) == 32) return operands->Raw() % 2 == 0 ? 4 : 14;
  constexpr uint32_t kPairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
  return kPairs[operands->Raw() % 6];
}

void Fill(const MmaDesc& desc, Operands* operands, Warp* warp) {
  for (const Element& at : Layout(desc, Matrix::kA)) {
    warp->Set(Matrix::kA, at.row, at.col, RandomElement(desc.a, operands));
  }
  for (const Element& at : Layout(desc, Matrix::kB)) {
    warp->Set(Matrix::kB, at.row, at.col, RandomElement(desc.b, operands));
  }
  for (const Element& at : Layout(desc, Matrix::kC)) {
    warp->Set(Matrix::kC, at.row, at.col, RandomElement(desc.acc, operands));
  }
  if (!desc.sparse) return;
  for (const Element& at : Layout(desc, Matrix::kE)) {
    warp->Set(Matrix::kE, at.row, at.col, RandomGroup(desc, operands));
  }
}

// A as a dense matrix, by the PTX rules of the storage of sparse matrices.
std::vector<std::vector<double>> DenseA(const MmaDesc& desc, Warp* warp) {
  std::vector<std::vector<double>> dense(desc.m, std::vector<double>(desc.k, 0.0));
  const int per_group = BitsOf(desc.a) == 32 ? 1 : (BitsOf(desc.a) == 4 ? 4 : 2);
  for (int row = 0; row < desc.m; ++row) {
    for (int i = 0; i < ColsOf(desc, Matrix::kA); ++i) {
      int col = i;
      if (desc.sparse) {
        const auto code = static_cast<int>(warp->Get(Matrix::kE, row, i / per_group));
        if (per_group == 1) {
          col = 2 * i + (code == 14 ? 1 : 0);
        } else if (per_group == 2) {
          col = 4 * (i / 2) + ((code >> (2 * (i % 2))) & 3);
        } else {
          col = 8 * (i / 4) + 2 * ((code >> (2 * (i % 4 / 2))) & 3) + i % 2;
        }
      }
      dense[row][col] = ValueOf(desc.a, warp->Get(Matrix::kA, row, i));
    }
  }
  return dense;
}

double Tolerance(const MmaDesc& desc, double magnitude) {
  // FP16 results carry 11 bits; FP8 sums 13 fraction bits of the largest term, group after group.
  if (desc.acc == MmaType::kF16) return magnitude * 0x1p-9;
  if (BitsOf(desc.a) == 8) return magnitude * 0x1p-10;
  return magnitude * 0x1p-20;
}

void CheckAgainstNaive(MmaDesc desc, MmaMode mode, Operands* operands) {
  Warp warp(desc);
  Fill(desc, operands, &warp);
  Mma(desc, warp.Regs(), mode);
  const auto a = DenseA(desc, &warp);
  for (int row = 0; row < desc.m; ++row) {
    for (int col = 0; col < desc.n; ++col) {
      double dot = 0;
      double magnitude = 0;
      for (int k = 0; k < desc.k; ++k) {
        const double b = ValueOf(desc.b, warp.Get(Matrix::kB, k, col));
        const bool differ = (a[row][k] != 0) != (b != 0);
        const double product = desc.a == MmaType::kB1 ? static_cast<double>(differ) : a[row][k] * b;
        dot += product;
        magnitude += std::fabs(product);
      }
      const double c = ValueOf(desc.acc, warp.Get(Matrix::kC, row, col));
      const double got = ValueOf(desc.acc, warp.Result(row, col));
      if (desc.acc == MmaType::kS32) {
        const auto wrapped = static_cast<int32_t>(static_cast<int64_t>(dot + c));
        ASSERT_EQ(got, wrapped) << NameOf(desc) << " " << row << " " << col;
      } else if (IsFloat(desc)) {
        ASSERT_NEAR(got, dot + c, Tolerance(desc, magnitude + std::fabs(c))) << NameOf(desc) << " " << row;
      } else {
        ASSERT_NEAR(got, dot + c, (magnitude + std::fabs(c)) * 0x1p-50) << NameOf(desc);
      }
    }
  }
}

TEST(Mma, EveryInstructionAgreesWithANaiveProduct) {
  Operands operands(51);
  for (MmaDesc desc : AllMmaDescs()) {
    for (int selector = 0; selector < (desc.sparse ? 4 : 1); ++selector) {
      desc.selector = static_cast<uint8_t>(selector);
      CheckAgainstNaive(desc, MmaMode::kHardware, &operands);
      if (IsFloat(desc)) CheckAgainstNaive(desc, MmaMode::kFmaChain, &operands);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Mma, WideAndPortableModelsGiveTheSameBits) {
  Operands operands(52);
  for (MmaDesc desc : AllMmaDescs()) {
    if (!IsFloat(desc)) continue;
    for (int round = 0; round < 6; ++round) {
      desc.core = round % 3 == 0 ? TensorCore::kHopper : TensorCore::kAda;
      Warp warp(desc);
      Fill(desc, &operands, &warp);
      // Every second round takes raw bits: subnormals, infinities, NaN, all exponents.
      if (round % 2 == 1) {
        for (const Element& at : Layout(desc, Matrix::kA))
          warp.Set(Matrix::kA, at.row, at.col, operands.Raw());
        for (const Element& at : Layout(desc, Matrix::kC))
          warp.Set(Matrix::kC, at.row, at.col, operands.Raw());
      }
      uint32_t wide[8][32];
      uint32_t portable[8][32];
      Mma(desc, warp.Regs());
      warp.CopyResult(wide[0]);
      MmaPortable(desc, warp.Regs());
      warp.CopyResult(portable[0]);
      ASSERT_EQ(std::memcmp(wide, portable, sizeof(wide)), 0) << NameOf(desc);
    }
  }
}

// D[0][0] of a product whose row 0 of A is `a` (column 0 of B all ones) and C[0][0] is c.
uint32_t Dot(const MmaDesc& desc, const std::vector<float>& a, float c, MmaMode mode = MmaMode::kHardware) {
  Warp warp(desc);
  const auto encode = [&](MmaType type, float value) -> uint64_t {
    const uint32_t bits = BitsOfFloat(value);
    switch (type) {
      case MmaType::kF16:
        return Fp32ToFp16(bits);
      case MmaType::kBf16:
        return Fp32ToBf16(bits);
      case MmaType::kE4m3:
        return Fp32ToE4m3(bits);
      case MmaType::kE5m2:
        return Fp32ToE5m2(bits);
      default:
        return bits;
    }
  };
  for (size_t i = 0; i < a.size(); ++i) {
    warp.Set(Matrix::kA, 0, static_cast<int>(i), encode(desc.a, a[i]));
    warp.Set(Matrix::kB, static_cast<int>(i), 0, encode(desc.b, 1.0f));
  }
  warp.Set(Matrix::kC, 0, 0, encode(desc.acc, c));
  Mma(desc, warp.Regs(), mode);
  return static_cast<uint32_t>(warp.Result(0, 0));
}

TEST(Mma, SumsKeepOneBitBelowFp32AndCutTheRest) {
  const MmaDesc desc;
  const float unit = 0x1p-24f;
  EXPECT_EQ(Dot(desc, {unit}, 1.0f), BitsOfFloat(1.0f));
  EXPECT_EQ(Dot(desc, {unit, unit}, 1.0f), BitsOfFloat(1.0f + 0x1p-23f));
  EXPECT_EQ(Dot(desc, {-unit}, 1.0f), BitsOfFloat(1.0f - 0x1p-24f));
  EXPECT_EQ(Dot(desc, {unit, unit}, 1.0f, MmaMode::kFmaChain), BitsOfFloat(1.0f));
  // Half of the kept bit vanishes before the sum, however often it comes.
  const MmaDesc brain = {.a = MmaType::kBf16, .b = MmaType::kBf16};
  EXPECT_EQ(Dot(brain, std::vector<float>(8, -0x1p-25f), 1.0f), BitsOfFloat(1.0f));
  EXPECT_EQ(Dot(brain, std::vector<float>(8, -0x1p-24f), 1.0f), BitsOfFloat(1.0f - 0x1p-21f));
}

TEST(Mma, GroupsOfEightAreAddedOneAfterAnother) {
  const MmaDesc desc;
  std::vector<float> a(16, 0.0f);
  a[0] = 0x1p-24f;  // both in the first group: together they count
  a[7] = 0x1p-24f;
  EXPECT_EQ(Dot(desc, a, 1.0f), BitsOfFloat(1.0f + 0x1p-23f));
  a[7] = 0.0f;  // one in each: each is cut
  a[8] = 0x1p-24f;
  EXPECT_EQ(Dot(desc, a, 1.0f), BitsOfFloat(1.0f));
}

TEST(Mma, HopperAddsSixteenProductsAtOnceWithTwoExtraBits) {
  const MmaDesc desc = {.core = TensorCore::kHopper};
  std::vector<float> a(16, 0.0f);
  a[0] = a[8] = 0x1p-24f;
  EXPECT_EQ(Dot(desc, a, 1.0f), BitsOfFloat(1.0f + 0x1p-23f));
  const MmaDesc brain = {.a = MmaType::kBf16, .b = MmaType::kBf16, .core = TensorCore::kHopper};
  EXPECT_EQ(Dot(brain, std::vector<float>(4, 0x1p-25f), 1.0f), BitsOfFloat(1.0f + 0x1p-23f));
  EXPECT_EQ(Dot(brain, std::vector<float>(16, 0x1p-26f), 1.0f), BitsOfFloat(1.0f));
}

TEST(Mma, HopperSumsOfSixteenLargestProductsDoNotOverflow) {
  const MmaDesc desc = {.core = TensorCore::kHopper};
  for (const float sign : {1.0f, -1.0f}) {
    Warp warp(desc);
    for (int k = 0; k < 16; ++k) {
      warp.Set(Matrix::kA, 0, k, Fp32ToFp16(BitsOfFloat(sign * 65504.0f)));
      warp.Set(Matrix::kB, k, 0, Fp32ToFp16(BitsOfFloat(65504.0f)));
    }
    Mma(desc, warp.Regs());
    const double exact = 16.0 * 65504.0 * 65504.0;
    EXPECT_EQ(FloatOf(static_cast<uint32_t>(warp.Result(0, 0))), sign * static_cast<float>(exact));
  }
}

TEST(Mma, Fp8SumsKeepThirteenBits) {
  const MmaDesc desc = {.k = 32, .a = MmaType::kE5m2, .b = MmaType::kE4m3};
  EXPECT_EQ(Dot(desc, {0x1p-13f}, 1.0f), BitsOfFloat(1.0f + 0x1p-13f));
  EXPECT_EQ(Dot(desc, {0x1p-14f, 0x1p-14f}, 1.0f), BitsOfFloat(1.0f));
  EXPECT_EQ(Dot(desc, {}, 1.0f + 0x1p-14f), BitsOfFloat(1.0f));
}

TEST(Mma, Fp16AccumulatorsRoundToNearestEven) {
  const MmaDesc desc = {.acc = MmaType::kF16};
  EXPECT_EQ(Dot(desc, {0x1p-11f}, 1.0f), 0x3c00u);
  EXPECT_EQ(Dot(desc, {0x1p-11f, 0x1p-14f}, 1.0f), 0x3c01u);
  EXPECT_EQ(Dot(desc, {65504.0f, 65504.0f}, 0.0f), 0x7c00u);
  EXPECT_EQ(Dot(desc, {0x1p-24f}, 0.0f), 0x0001u);
}

TEST(Mma, InfinitiesAndNanSpread) {
  const float infinity = std::numeric_limits<float>::infinity();
  const MmaDesc desc;
  EXPECT_EQ(Dot(desc, {infinity}, 1.0f), 0x7f800000u);
  EXPECT_EQ(Dot(desc, {-infinity, 1.0f}, 1.0f), 0xff800000u);
  EXPECT_EQ(Dot(desc, {infinity, -infinity}, 1.0f), 0x7fffffffu);
  EXPECT_EQ(Dot(desc, {1.0f}, -infinity), 0xff800000u);
  EXPECT_EQ(Dot(desc, {infinity}, -infinity), 0x7fffffffu);
  EXPECT_EQ(Dot(desc, {std::nanf("")}, 1.0f), 0x7fffffffu);
  EXPECT_EQ(Dot({.acc = MmaType::kF16}, {std::nanf("")}, 1.0f), 0x7fffu);
  const MmaDesc brain = {.a = MmaType::kBf16, .b = MmaType::kBf16};
  EXPECT_EQ(Dot(brain, std::vector<float>(8, 0x1p127f), 0.0f), 0x7f800000u);
}

TEST(Mma, SubnormalsAreKept) {
  EXPECT_EQ(Dot({}, {0x1p-24f, -0x1p-23f}, 0.0f), BitsOfFloat(-0x1p-24f));
  const MmaDesc brain = {.a = MmaType::kBf16, .b = MmaType::kBf16};
  EXPECT_EQ(Dot(brain, {0x1p-130f}, 0x1p-130f), BitsOfFloat(0x1p-129f));
}

TEST(Mma, Tf32IgnoresTheLowThirteenBits) {
  const MmaDesc desc = {.k = 8, .a = MmaType::kTf32, .b = MmaType::kTf32};
  EXPECT_EQ(Dot(desc, {FloatOf(0x3f801fff)}, 0.0f), BitsOfFloat(1.0f));
  EXPECT_EQ(Dot(desc, {FloatOf(0x3f802000)}, 0.0f), 0x3f802000u);
}

TEST(Mma, IntegerSaturationClamps) {
  MmaDesc desc = {.k = 32, .a = MmaType::kU8, .b = MmaType::kU8, .acc = MmaType::kS32, .saturate = true};
  Warp warp(desc);
  warp.Set(Matrix::kA, 3, 5, 255);
  warp.Set(Matrix::kB, 5, 2, 255);
  warp.Set(Matrix::kC, 3, 2, 0x7fffffff);
  Mma(desc, warp.Regs());
  EXPECT_EQ(warp.Result(3, 2), 0x7fffffffu);
  desc.saturate = false;
  Mma(desc, warp.Regs());
  EXPECT_EQ(warp.Result(3, 2), 0x7fffffffu + 255u * 255u);
}

TEST(Mma, BitProductsCountBits) {
  MmaDesc desc = {
      .k = 256, .a = MmaType::kB1, .b = MmaType::kB1, .acc = MmaType::kS32, .bit_op = BitOp::kAnd};
  Operands operands(53);
  Warp warp(desc);
  Fill(desc, &operands, &warp);
  Mma(desc, warp.Regs());
  for (int row = 0; row < 16; ++row) {
    for (int col = 0; col < 8; ++col) {
      uint64_t both = warp.Get(Matrix::kC, row, col);
      for (int k = 0; k < 256; ++k) both += warp.Get(Matrix::kA, row, k) & warp.Get(Matrix::kB, k, col);
      ASSERT_EQ(warp.Result(row, col), both & 0xffffffffu);
    }
  }
}

TEST(Mma, ResultMayOverlayTheAccumulators) {
  Operands operands(54);
  for (const MmaDesc& desc : AllMmaDescs()) {
    Warp warp(desc);
    Fill(desc, &operands, &warp);
    Mma(desc, warp.Regs());
    MmaRegs regs = warp.Regs();
    for (int i = 0; i < 8; ++i) regs.d[i] = const_cast<uint32_t*>(regs.c[i]);
    Mma(desc, regs);
    for (int row = 0; row < desc.m; ++row) {
      for (int col = 0; col < desc.n; ++col) {
        ASSERT_EQ(warp.Get(Matrix::kC, row, col), warp.Result(row, col)) << NameOf(desc);
      }
    }
  }
}

TEST(Mma, LdmatrixAndMovmMatchTheirTable) {
  Operands operands(55);
  uint16_t element[8][8];
  for (auto& row : element) {
    for (uint16_t& value : row) value = static_cast<uint16_t>(operands.Raw());
  }
  uint8_t bytes[128];
  std::memcpy(bytes, element, sizeof(bytes));
  for (const bool transposed : {false, true}) {
    uint32_t dst[32];
    Ldmatrix(bytes, dst, transposed);
    for (int row = 0; row < 8; ++row) {
      for (int col = 0; col < 8; ++col) {
        const Element at = LocateLdmatrix(0, row, col, transposed);
        ASSERT_EQ((dst[at.lane] >> at.bit) & 0xffff, element[row][col]);
      }
    }
  }
  uint32_t plain[32];
  uint32_t transposed[32];
  Ldmatrix(bytes, plain, false);
  Ldmatrix(bytes, transposed, true);
  MovmTranspose(plain, plain);
  EXPECT_EQ(std::memcmp(plain, transposed, sizeof(plain)), 0);
}

}  // namespace
}  // namespace sm89::num
