// Barriers of a CTA, deadlocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/emu/emulator.h"
#include "tests/unit/sim_emu/code_builder.h"

namespace sm89::emu {
namespace {

using testing::HasSubstr;

constexpr uint32_t kTid = 3, kFour = 7, kOut = 8, kWarp = 5, kValue = 6, kShared = 2;

void Prologue(CodeBuilder& b) {
  b.Tid(kTid).Mov(kFour, 4).Address(kOut, kTid, kFour, 1).Shr(kWarp, kTid, 5).Mad(kShared, kTid, 4, kRz);
}

absl::Status RunOn(CodeBuilder& b, uint32_t threads, std::vector<uint32_t>* out,
                   uint64_t* findings = nullptr) {
  const cubin::Module m = b.Build(4096);
  auto emulator = Emulator::Create(m, MakeLaunch(1, threads, threads), {});
  if (!emulator.ok()) return emulator.status();
  const absl::Status status = (*emulator)->RunAll(nullptr);
  if (out != nullptr) *out = Words((*emulator)->buffer(1));
  if (findings != nullptr) *findings = (*emulator)->num_findings();
  return status;
}

TEST(Barrier, ReadersSeeWhatOtherWarpsWroteBefore) {
  CodeBuilder b;  // out[tid] = shared[last - tid]
  Prologue(b);
  b.Sts(kShared, kTid)
      .BarSync(0)
      .Mad(kShared, kTid, static_cast<uint32_t>(-4), kRz)
      .Lds(kValue, kShared, 127 * 4);
  b.Stg(kOut, kValue).Exit();
  std::vector<uint32_t> out;
  uint64_t findings = 1;
  ASSERT_TRUE(RunOn(b, 128, &out, &findings).ok());
  for (uint32_t i = 0; i < 128; ++i) EXPECT_EQ(out[i], 127 - i);
  EXPECT_EQ(findings, 0u);
}

TEST(Barrier, ExitedWarpsAreNotWaitedFor) {
  CodeBuilder b;  // warp 0 leaves; also after the others wait
  Prologue(b);
  b.NotZero(0, kWarp).Exit({0, true}).BarSync(0).Mov(kValue, 1).Stg(kOut, kValue).Exit();
  std::vector<uint32_t> out;
  ASSERT_TRUE(RunOn(b, 96, &out).ok());
  for (uint32_t i = 0; i < 96; ++i) EXPECT_EQ(out[i], i / 32 != 0);
}

TEST(Barrier, NamedBarrierWithACountLeavesTheOthersAlone) {
  CodeBuilder b;  // warps 1 and 2 meet at barrier 3; warp 0 never comes
  Prologue(b);
  b.NotZero(0, kWarp).Bra("end", {0, true}).Sts(kShared, kTid).BarSync(3, 64);
  b.Lds(kValue, kShared).Stg(kOut, kValue);
  b.Label("end").Exit();
  std::vector<uint32_t> out;
  ASSERT_TRUE(RunOn(b, 96, &out).ok());
  for (uint32_t i = 32; i < 96; ++i) EXPECT_EQ(out[i], i);
}

TEST(Barrier, ArriveDoesNotWait) {
  CodeBuilder b;  // warp 0 produces and arrives; warp 1 waits and reads
  Prologue(b);
  b.NotZero(0, kWarp).Bra("consume", {0, false}).Sts(kShared, kTid).BarArrive(1, 64).Exit();
  b.Label("consume").BarSync(1, 64).Lds(kValue, kShared, static_cast<uint32_t>(-128) & 0xffffff);
  b.Stg(kOut, kValue).Exit();
  std::vector<uint32_t> out;
  uint64_t findings = 1;
  ASSERT_TRUE(RunOn(b, 64, &out, &findings).ok());
  for (uint32_t i = 32; i < 64; ++i) EXPECT_EQ(out[i], i - 32);
  EXPECT_EQ(findings, 0u);
}

TEST(Barrier, ReductionCountsTruePredicatesOfAllThreads) {
  CodeBuilder b;  // twice, so that the first result does not stick: thread numbers != 0, then bit 0 of them
  Prologue(b);
  b.NotZero(1, kTid)
      .BarPopc(0, 1)
      .BarResult(kValue)
      .And(12, kTid, 1)
      .NotZero(1, 12)
      .BarPopc(0, 1)
      .BarResult(13);
  b.Mad(kValue, kValue, 1000, 13).Stg(kOut, kValue).Exit();
  std::vector<uint32_t> out;
  ASSERT_TRUE(RunOn(b, 80, &out).ok());
  for (const uint32_t v : out) EXPECT_EQ(v, 79 * 1000 + 40u);
}

TEST(Barrier, PartialWarpCountsAsAWholeOne) {
  CodeBuilder b;
  Prologue(b);
  b.BarSync(2, 64).Stg(kOut, kTid).Exit();
  std::vector<uint32_t> out;
  ASSERT_TRUE(RunOn(b, 40, &out).ok());
  EXPECT_EQ(out[39], 39u);
}

TEST(Barrier, DeadlockNamesWarpsAndPlaces) {
  CodeBuilder b;  // warp 0 waits at barrier 1, the others at barrier 2
  Prologue(b);
  b.NotZero(0, kWarp).Bra("other", {0, false}).BarSync(1).Exit().Label("other").BarSync(2).Exit();
  const absl::Status status = RunOn(b, 64, nullptr);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(
      status.message(),
      "kernel k is deadlocked: no warp can run; CTA (0,0,0) warp 0 lanes 0xffffffff wait at barrier 1 (32 of "
      "64 threads) of k+0x0070; CTA (0,0,0) warp 1 lanes 0xffffffff wait at barrier 2 (32 of 64 threads) of "
      "k+0x0090");
}

}  // namespace
}  // namespace sm89::emu
