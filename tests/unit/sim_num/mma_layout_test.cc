#include "sim/num/mma_layout.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "tests/unit/sim_num/mma_shapes.h"

namespace sm89::num {
namespace {

using testing::AllMmaDescs;
using testing::NameOf;

unsigned BitsIn(const MmaDesc& desc, Matrix matrix) {
  switch (matrix) {
    case Matrix::kA:
      return BitsOf(desc.a);
    case Matrix::kB:
      return BitsOf(desc.b);
    case Matrix::kC:
      return BitsOf(desc.acc);
    case Matrix::kE:
      return 4;
  }
  return 0;
}

TEST(MmaLayout, EveryBitOfTheFragmentsIsOneElementAndEveryElementHasItsBits) {
  for (const MmaDesc& desc : AllMmaDescs()) {
    for (const Matrix matrix : {Matrix::kA, Matrix::kB, Matrix::kC}) {
      const unsigned bits = BitsIn(desc, matrix);
      std::set<std::tuple<int, int, int>> places;
      std::set<std::pair<int, int>> elements;
      for (const Element& element : Layout(desc, matrix)) {
        EXPECT_LT(element.lane, 32);
        EXPECT_LT(element.reg, RegsOf(desc, matrix));
        EXPECT_TRUE(places.emplace(element.lane, element.reg, element.bit).second) << NameOf(desc);
        EXPECT_TRUE(elements.emplace(element.row, element.col).second) << NameOf(desc);
      }
      EXPECT_EQ(elements.size(),
                static_cast<size_t>(RowsOf(desc, matrix)) * static_cast<size_t>(ColsOf(desc, matrix)));
      EXPECT_EQ(places.size() * bits, static_cast<size_t>(RegsOf(desc, matrix)) * 32 * 32) << NameOf(desc);
    }
  }
}

TEST(MmaLayout, MetadataOfEachSelectorCoversItsLanesOnce) {
  for (MmaDesc desc : AllMmaDescs()) {
    if (!desc.sparse) continue;
    const int groups = ColsOf(desc, Matrix::kE);
    const int selectors = 128 / (groups * 16 * 4 / 8);  // the warp holds 128 bytes
    std::set<std::pair<int, int>> places;
    for (int selector = 0; selector < selectors; ++selector) {
      desc.selector = static_cast<uint8_t>(selector);
      for (const Element& element : Layout(desc, Matrix::kE)) {
        EXPECT_TRUE(places.emplace(element.lane, element.bit).second) << NameOf(desc);
      }
    }
    EXPECT_EQ(places.size(), 32u * 8u) << NameOf(desc);
  }
}

// Lane formulas of the PTX ISA, written out for some shapes.
TEST(MmaLayout, HalfFragmentsFollowThePtxFormulas) {
  const MmaDesc desc;  // m16n8k16 f16
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane >> 2;
    const int thread = lane % 4;
    for (int i = 0; i < 8; ++i) {
      const int row = (i < 2 || (i >= 4 && i < 6)) ? group : group + 8;
      const int col = thread * 2 + (i & 1) + (i >= 4 ? 8 : 0);
      const Element at = Locate(desc, Matrix::kA, row, col);
      EXPECT_EQ(at.lane, lane);
      EXPECT_EQ(at.reg, i / 2);
      EXPECT_EQ(at.bit, (i % 2) * 16);
    }
    for (int i = 0; i < 4; ++i) {
      const int row = thread * 2 + (i & 1) + (i >= 2 ? 8 : 0);
      const Element b = Locate(desc, Matrix::kB, row, group);
      EXPECT_EQ(b.lane, lane);
      EXPECT_EQ(b.reg, i / 2);
      EXPECT_EQ(b.bit, (i % 2) * 16);
      const Element c = Locate(desc, Matrix::kC, i < 2 ? group : group + 8, thread * 2 + (i & 1));
      EXPECT_EQ(c.lane, lane);
      EXPECT_EQ(c.reg, i);
    }
  }
}

TEST(MmaLayout, ByteFragmentsFollowThePtxFormulas) {
  const MmaDesc desc = {.k = 32, .a = MmaType::kS8, .b = MmaType::kU8, .acc = MmaType::kS32};
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane >> 2;
    const int thread = lane % 4;
    for (int i = 0; i < 16; ++i) {
      const int row = (i < 4 || (i >= 8 && i < 12)) ? group : group + 8;
      const int col = thread * 4 + (i & 3) + (i >= 8 ? 16 : 0);
      const Element at = Locate(desc, Matrix::kA, row, col);
      EXPECT_EQ(std::make_tuple(at.lane, at.reg, at.bit), std::make_tuple(lane, i / 4, (i % 4) * 8));
    }
  }
}

TEST(MmaLayout, DoubleFragmentsFollowThePtxFormulas) {
  const MmaDesc desc = {.m = 8, .k = 4, .a = MmaType::kF64, .b = MmaType::kF64, .acc = MmaType::kF64};
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(Locate(desc, Matrix::kA, lane >> 2, lane % 4).lane, lane);
    EXPECT_EQ(Locate(desc, Matrix::kB, lane % 4, lane >> 2).lane, lane);
    EXPECT_EQ(Locate(desc, Matrix::kC, lane >> 2, (lane % 4) * 2 + 1).lane, lane);
    EXPECT_EQ(Locate(desc, Matrix::kC, lane >> 2, (lane % 4) * 2 + 1).reg, 2);
  }
}

TEST(MmaLayout, RegisterCountsAreThoseOfTheInstructions) {
  const MmaDesc half;
  EXPECT_EQ(RegsOf(half, Matrix::kA), 4);
  EXPECT_EQ(RegsOf(half, Matrix::kB), 2);
  EXPECT_EQ(RegsOf(half, Matrix::kC), 4);
  const MmaDesc half_acc = {.acc = MmaType::kF16};
  EXPECT_EQ(RegsOf(half_acc, Matrix::kC), 2);
  const MmaDesc sparse = {.k = 32, .sparse = true};
  EXPECT_EQ(RegsOf(sparse, Matrix::kA), 4);
  EXPECT_EQ(RegsOf(sparse, Matrix::kB), 4);
  const MmaDesc dmma = {.m = 8, .k = 4, .a = MmaType::kF64, .b = MmaType::kF64, .acc = MmaType::kF64};
  EXPECT_EQ(RegsOf(dmma, Matrix::kA), 2);
  EXPECT_EQ(RegsOf(dmma, Matrix::kC), 4);
}

TEST(MmaLayout, UnknownShapesAreRefused) {
  EXPECT_FALSE(IsSupported({.k = 4}));
  EXPECT_FALSE(IsSupported({.k = 64}));
  EXPECT_FALSE(IsSupported({.a = MmaType::kBf16, .b = MmaType::kBf16, .acc = MmaType::kF16}));
  EXPECT_FALSE(IsSupported({.a = MmaType::kF16, .b = MmaType::kBf16}));
  EXPECT_FALSE(IsSupported({.k = 32, .a = MmaType::kS8, .b = MmaType::kS8, .acc = MmaType::kF32}));
  EXPECT_TRUE(IsSupported({.k = 32, .a = MmaType::kE4m3, .b = MmaType::kE5m2, .acc = MmaType::kF16}));
}

TEST(MmaLayout, LdmatrixPutsARowInFourLanes) {
  EXPECT_EQ(LocateLdmatrix(2, 3, 5, false).lane, 3 * 4 + 2);
  EXPECT_EQ(LocateLdmatrix(2, 3, 5, false).bit, 16);
  EXPECT_EQ(LocateLdmatrix(2, 3, 5, false).reg, 2);
  EXPECT_EQ(LocateLdmatrix(0, 3, 5, true).lane, 5 * 4 + 1);
}

}  // namespace
}  // namespace sm89::num
