// What a kernel's own clock reads measure in the model.
#include <gtest/gtest.h>

#include "tests/support/trace_builder.h"

namespace sm89 {
namespace {

using testing::KernelScript;
using testing::Simulate;
using testing::TestConfig;
using testing::WarpScript;
using testing::WriteTrace;

ClockReadSummary ReadsOf(const WarpScript& script, uint32_t ctas = 1, uint32_t warps = 1) {
  KernelScript kernel;
  kernel.info.grid = {ctas, 1, 1};
  kernel.info.block = {32 * warps, 1, 1};
  kernel.warp = [&](uint32_t, uint32_t) { return script; };
  return Simulate(WriteTrace({kernel}), TestConfig()).kernels[0].clock_reads;
}

WarpScript TimedChain(int length) {
  WarpScript s;
  s.ReadClock(2);
  for (int i = 0; i < length; ++i) s.Op("FADD", {8}, {8});
  return s.ReadClock(4).Op("EXIT");
}

TEST(ClockReadsTest, AChainBetweenTwoReadsTakesItsLatency) {
  const ClockReadSummary ten = ReadsOf(TimedChain(10));
  EXPECT_EQ(ten.warp_instructions, 2u);
  ASSERT_EQ(ten.pairs.size(), 1u);
  EXPECT_EQ(ten.pairs[0].pc_first, 0u);
  EXPECT_EQ(ten.pairs[0].pc_second, 16u * 11);
  EXPECT_EQ(ten.pairs[0].warps, 1u);
  EXPECT_EQ(ten.pairs[0].threads, 32u);
  const ClockReadSummary fifty = ReadsOf(TimedChain(50));
  EXPECT_EQ(fifty.pairs[0].median_cycles - ten.pairs[0].median_cycles, 160u) << "4 cycles an FADD";
}

TEST(ClockReadsTest, EveryWarpOfEveryThreadBlockCounts) {
  const ClockReadSummary reads = ReadsOf(TimedChain(20), 300, 4);
  EXPECT_EQ(reads.warp_instructions, 2u * 300 * 4);
  ASSERT_EQ(reads.pairs.size(), 1u);
  EXPECT_EQ(reads.pairs[0].warps, 300u * 4);
  EXPECT_EQ(reads.pairs[0].threads, 300u * 128);
  EXPECT_LE(reads.pairs[0].min_cycles, reads.pairs[0].median_cycles);
  EXPECT_LE(reads.pairs[0].median_cycles, reads.pairs[0].max_cycles);
}

TEST(ClockReadsTest, DivergedLanesKeepTheirOwnStart) {
  constexpr LaneMask kLow = 0xFFFF;
  WarpScript s;
  s.ReadClock(2, kLow);
  for (int i = 0; i < 10; ++i) s.Op("FADD", {8}, {8}, kLow);
  s.At(0).ReadClock(2, ~kLow);
  s.At(0x200).ReadClock(4, kLow).At(0x200).ReadClock(4, ~kLow).Op("EXIT");
  const ClockReadSummary reads = ReadsOf(s);
  EXPECT_EQ(reads.warp_instructions, 4u);
  ASSERT_EQ(reads.pairs.size(), 1u) << "no lane read twice at one place";
  EXPECT_EQ(reads.pairs[0].pc_second, 0x200u);
  EXPECT_EQ(reads.pairs[0].warps, 2u);
  EXPECT_EQ(reads.pairs[0].threads, 32u);
  EXPECT_GT(reads.pairs[0].max_cycles, reads.pairs[0].min_cycles + 20) << "the lower half's chain";
}

TEST(ClockReadsTest, ALoopThatReadsIsOnePair) {
  WarpScript s;
  for (int i = 0; i < 5000; ++i) s.At(0).ReadClock(2).Op("FADD", {8}, {8});
  const ClockReadSummary reads = ReadsOf(s.Op("EXIT"));
  ASSERT_EQ(reads.pairs.size(), 1u);
  EXPECT_EQ(reads.pairs[0].pc_first, reads.pairs[0].pc_second);
  EXPECT_EQ(reads.pairs[0].warps, 4999u);
}

TEST(ClockReadsTest, WithoutMachineCodeOrActiveLanesNothingIsRead) {
  WarpScript text;
  text.Op("CS2R", {2}).Op("CS2R", {4}).Op("EXIT");
  EXPECT_FALSE(ReadsOf(text).any()) << "a text trace does not tell the special register";
  WarpScript off;
  off.ReadClock(2, 0).ReadClock(4, 0).Op("EXIT");
  EXPECT_FALSE(ReadsOf(off).any());
}

TEST(ClockReadsTest, HostThreadsDoNotShow) {
  KernelScript kernel;
  kernel.info.grid = {400, 1, 1};
  kernel.info.block = {64, 1, 1};
  kernel.warp = [](uint32_t c, uint32_t w) {
    WarpScript s;
    s.ReadClock(2);
    for (uint32_t i = 0; i < 4; ++i) {
      s.Mem("LDG.E", {8}, {6}, 0x7f4c80000000 + (c * 2 + w) * 4096 + i * 131072, 4).Op("FADD", {9}, {8});
    }
    return s.ReadClock(4).Op("EXIT");
  };
  const std::string path = WriteTrace({kernel});
  const std::string one = ReportToJson(Simulate(path, TestConfig(), 1));
  EXPECT_NE(one.find("\"clock_reads\""), std::string::npos);
  EXPECT_EQ(one, ReportToJson(Simulate(path, TestConfig(), 3)));
}

}  // namespace
}  // namespace sm89
