// Numbers, shapes, predictors and packing: the pieces that the format is made of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "sim/trace/base_predictor.h"
#include "sim/trace/byte_io.h"
#include "sim/trace/packing.h"
#include "sim/trace/segment_encoder.h"
#include "sim/trace/shape_code.h"

namespace sm89 {
namespace {

TEST(ByteIo, VarintsKeepEveryWidth) {
  for (int bit = 0; bit < 64; ++bit) {
    for (const uint64_t value : {uint64_t{1} << bit, (uint64_t{1} << bit) - 1, ~(uint64_t{1} << bit)}) {
      std::string out;
      AppendVarint(&out, value);
      AppendZigzag(&out, value);
      ByteReader in(out);
      EXPECT_EQ(in.Varint(), value);
      EXPECT_EQ(in.Zigzag(), value);
      EXPECT_TRUE(in.ok() && in.AtEnd());
    }
  }
}

// The wide read must give what the byte-by-byte read at the end of the buffer gives.
TEST(ByteIo, VarintsReadTheSameWithAndWithoutBytesBehind) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 20'000; ++round) {
    const uint64_t value = random() >> random() % 64;
    std::string out;
    AppendVarint(&out, value);
    ByteReader alone(out);
    EXPECT_EQ(alone.Varint(), value);
    EXPECT_TRUE(alone.ok() && alone.AtEnd());
    const std::string behind = out + std::string(8, static_cast<char>(random()));
    ByteReader wide(behind);
    ASSERT_EQ(wide.Varint(), value);
    ASSERT_EQ(wide.offset(), out.size());
  }
}

TEST(ByteIo, SmallNegativeNumbersAreOneByte) {
  std::string out;
  AppendZigzag(&out, static_cast<uint64_t>(int64_t{-64}));
  EXPECT_EQ(out.size(), 1u);
}

TEST(ByteIo, ReadsStopAtTheEndAndStayFailed) {
  ByteReader in("\x80");
  EXPECT_EQ(in.Varint(), 0u);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.U8(), 0u);
  EXPECT_FALSE(in.ok());
}

TEST(ByteIo, OverlongVarintsAreRefused) {
  ByteReader eleven(std::string_view("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11));
  eleven.Varint();
  EXPECT_FALSE(eleven.ok());
  ByteReader bit64(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10));
  bit64.Varint();
  EXPECT_FALSE(bit64.ok());
}

TEST(ByteIo, CountsAreBoundedByWhatFollowsAndByTheLimit) {
  const std::string bytes(
      "\x05"
      "abcde",
      6);
  EXPECT_EQ(ByteReader(bytes).Count(1), 5u);
  ByteReader too_wide(bytes);
  too_wide.Count(2);
  EXPECT_FALSE(too_wide.ok());
  ByteReader too_many(bytes);
  too_many.Count(1, 4);
  EXPECT_FALSE(too_many.ok());
}

AccessShape Decode(const std::string& code) {
  ByteReader in(code);
  AccessShape shape;
  EXPECT_TRUE(ReadShape(&in, &shape));
  EXPECT_TRUE(in.AtEnd());
  return shape;
}

TEST(ShapeCode, StridedAndListed) {
  std::string strided;
  AppendShape(&strided, 0xF0, std::vector<uint64_t>{100, 96, 92, 88});
  const AccessShape a = Decode(strided);
  EXPECT_TRUE(a.strided);
  EXPECT_EQ(a.stride, -4);
  EXPECT_EQ(a.mask, 0xF0u);
  std::string listed;
  AppendShape(&listed, 0x7, std::vector<uint64_t>{~uint64_t{0}, 0, 5});
  const AccessShape b = Decode(listed);
  EXPECT_FALSE(b.strided);
  EXPECT_EQ(b.offsets, (std::vector<uint64_t>{0, 1, 6}));
}

TEST(ShapeCode, OneLaneAndTwoLanesAreStrided) {
  std::string one;
  AppendShape(&one, 0x8, std::vector<uint64_t>{7});
  EXPECT_TRUE(Decode(one).strided);
  EXPECT_EQ(Decode(one).stride, 0);
  std::string two;
  AppendShape(&two, 0x3, std::vector<uint64_t>{0, uint64_t{1} << 63});
  EXPECT_TRUE(Decode(two).strided);
  EXPECT_EQ(Decode(two).offsets[1], uint64_t{1} << 63);
}

TEST(ShapeCode, EmptyMaskAndUnknownKindAreRefused) {
  AccessShape shape;
  ByteReader empty(std::string_view("\0\0\0\0\0\0", 6));
  EXPECT_FALSE(ReadShape(&empty, &shape));
  ByteReader kind(std::string_view("\1\0\0\0\2\0", 6));
  EXPECT_FALSE(ReadShape(&kind, &shape));
  ByteReader cut(std::string_view("\3\0\0\0\1", 5));
  EXPECT_FALSE(ReadShape(&cut, &shape));
}

TEST(SlotPredictor, BelievesAStrideSeenTwice) {
  SlotPredictor p{.last = 1000};
  p.Learn(1000);
  p.Learn(1128);
  EXPECT_EQ(p.Guess(), 1128u);
  p.Learn(1256);
  EXPECT_EQ(p.Guess(), 1384u);
  p.Learn(5000);  // one outlier does not change the stride
  EXPECT_EQ(p.Guess(), 5128u);
}

// base = f(CTA) + g(warp) is guessed exactly from the second CTA's second warp on, and from the third CTA on
// for f linear.
TEST(FirstBasePredictor, AffineKernelsAreGuessed) {
  FirstBasePredictor p;
  p.Reset();
  for (uint64_t cta = 0; cta < 5; ++cta) {
    p.BeginPiece();
    for (uint32_t warp = 0; warp < 4; ++warp) {
      p.BeginWarp(warp);
      for (uint32_t slot = 0; slot < 3; ++slot) {
        const uint64_t base = 0x1000 * (slot + 1) + cta * 512 + uint64_t{warp} * warp * 32;
        const uint64_t guess = p.Guess(slot);
        if (cta >= 2 || (cta == 1 && warp > 0)) {
          EXPECT_EQ(guess, base) << cta << " " << warp << " " << slot;
        }
        p.Learn(slot, base);
      }
    }
  }
}

TEST(SegmentEncoder, StraightCodeIsOneByteARun) {
  SegmentEncoder e;
  for (uint32_t i = 0; i < 300; ++i) e.AddPlain(i, ~LaneMask{0});
  const EncodedSegment s = e.Take();
  EXPECT_EQ(s.ops.size(), 3u);  // 128 + 128 + 44
  EXPECT_EQ(s.aux.size(), 0u);
  EXPECT_EQ(s.instructions, 300u);
}

TEST(SegmentEncoder, StridedLoopCostsAByteAnAccessOnceLearnt) {
  SegmentEncoder e;
  for (uint64_t i = 0; i < 10; ++i) e.AddAccess(0, ~LaneMask{0}, 0, 0, 4096 + 128 * i);
  const EncodedSegment s = e.Take();
  EXPECT_EQ(s.ops.size(), 10u);
  // 9 jumps back to static 0, one shape, two residuals of two bytes.
  EXPECT_EQ(s.aux.size(), 9u + 1 + 2 * 2);
  ASSERT_EQ(s.first_bases.size(), 1u);
  EXPECT_EQ(s.first_bases[0].base, 4096u);
}

TEST(Packing, RoundTripAndBounds) {
  const std::string raw(100'000, 'x');
  const std::string packed = Pack(raw, 3);
  EXPECT_LT(packed.size(), 100u);
  EXPECT_EQ(Unpack(packed, raw.size()).value(), raw);
  EXPECT_FALSE(Unpack(packed, raw.size() - 1).ok());
  EXPECT_FALSE(Unpack(packed.substr(0, packed.size() - 1), raw.size()).ok());
  EXPECT_FALSE(Unpack("not zstd at all", 5).ok());
  EXPECT_EQ(Unpack(Pack("", 3), 0).value(), "");
}

TEST(Packing, CrcIsZlibs) { EXPECT_EQ(Crc32("123456789"), 0xCBF43926u); }

}  // namespace
}  // namespace sm89
