// Recorded thread blocks give back what went in; memory is bounded; shapes are shared.
#include "sim/trace/cta_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <random>
#include <set>

#include "sim/base/fault.h"
#include "tests/unit/sim_trace/trace_model.h"

namespace sm89 {
namespace {

using testing::ModelCta;
using testing::ModelInst;
using testing::ModelKernel;
using testing::RandomTrace;

// Adds the CTA's instructions, warps in random turns.
absl::StatusOr<std::unique_ptr<CtaTrace>> Record(const ModelCta& cta, uint32_t num_warps,
                                                 std::mt19937_64* random, CtaRecorder* recorder) {
  RETURN_IF_ERROR(recorder->BeginCta(cta.id, num_warps));
  std::vector<size_t> at(cta.warps.size(), 0);
  std::vector<size_t> unfinished;
  for (size_t w = 0; w < cta.warps.size(); ++w) {
    if (!cta.warps[w].insts.empty()) unfinished.push_back(w);
  }
  while (!unfinished.empty()) {
    const size_t pick = (*random)() % unfinished.size();
    const size_t w = unfinished[pick];
    const ModelInst& inst = cta.warps[w].insts[at[w]];
    RETURN_IF_ERROR(recorder->Add(cta.warps[w].warp, {inst.id, inst.mask, inst.addresses}));
    if (++at[w] == cta.warps[w].insts.size()) {
      unfinished.erase(unfinished.begin() + static_cast<ptrdiff_t>(pick));
    }
  }
  return recorder->EndCta();
}

TEST(CtaRecorderTest, InterleavedWarpsComeBackOneByOne) {
  std::mt19937_64 random(1);
  CtaRecorder recorder;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    for (const ModelKernel& kernel : RandomTrace(seed, /*long_warps=*/seed % 10 == 0).kernels) {
      const uint32_t warps = kernel.info.block.x / 32;
      recorder.BeginKernel(static_cast<uint32_t>(kernel.statics.size()));
      std::vector<std::unique_ptr<CtaTrace>> recorded;
      for (const ModelCta& cta : kernel.ctas) {
        auto got = Record(cta, warps, &random, &recorder);
        ASSERT_TRUE(got.ok()) << got.status();
        recorded.push_back(*std::move(got));
      }
      for (size_t c = 0; c < recorded.size(); ++c) {
        EXPECT_EQ(recorded[c]->id(), kernel.ctas[c].id);
        EXPECT_EQ(recorded[c]->num_warps(), warps);
        for (const testing::ModelWarp& warp : kernel.ctas[c].warps) {
          testing::ExpectSameWarp(kernel, warp, kernel.statics, *recorded[c]);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// Addresses of a full warp: `offset` times the lane, behind `base`.
std::array<uint64_t, kWarpSize> Stride(uint64_t base, uint64_t offset) {
  std::array<uint64_t, kWarpSize> addresses{};
  for (uint64_t lane = 0; lane < kWarpSize; ++lane) addresses[lane] = base + lane * offset;
  return addresses;
}

// The recorded CTA of one warp that makes `accesses`.
std::unique_ptr<CtaTrace> OneWarp(const std::vector<std::array<uint64_t, kWarpSize>>& accesses,
                                  CtaRecorder* recorder) {
  EXPECT_TRUE(recorder->BeginCta({}, 1).ok());
  for (const auto& addresses : accesses) EXPECT_TRUE(recorder->Add(0, {0, ~LaneMask{0}, addresses}).ok());
  return recorder->EndCta().value();
}

std::vector<uint32_t> ShapeIds(const CtaTrace& cta) {
  std::vector<uint32_t> ids;
  const std::unique_ptr<WarpCursor> cursor = cta.OpenWarp(0);
  DynInst inst;
  while (cursor->Next(&inst)) ids.push_back(inst.shape->id);
  return ids;
}

TEST(CtaRecorderTest, EqualShapesShareAnIdAcrossThreadBlocks) {
  CtaRecorder recorder;
  recorder.BeginKernel(1);
  const auto first = OneWarp({Stride(0x1000, 4), Stride(0x8000, 8)}, &recorder);
  const auto second = OneWarp({Stride(0x9000, 8), Stride(0x2000, 4), Stride(0, 12)}, &recorder);
  const std::vector<uint32_t> a = ShapeIds(*first);
  const std::vector<uint32_t> b = ShapeIds(*second);
  EXPECT_EQ(b[0], a[1]);
  EXPECT_EQ(b[1], a[0]);
  EXPECT_EQ((std::set<uint32_t>{a[0], a[1], b[2]}.size()), 3u);
}

TEST(CtaRecorderTest, MemoryIsGivenBackWithTheThreadBlock) {
  CtaRecorder recorder;
  recorder.BeginKernel(1);
  std::mt19937_64 random(3);
  std::vector<std::array<uint64_t, kWarpSize>> gathers(40'000);
  for (auto& gather : gathers) {
    for (uint64_t& address : gather) address = random();
  }
  const uint64_t before = recorder.live_bytes();
  auto cta = OneWarp(gathers, &recorder);
  // Every gather is a shape of its own: 256 bytes of offsets at least.
  EXPECT_GT(recorder.live_bytes(), before + gathers.size() * 256);
  const std::unique_ptr<WarpCursor> cursor = cta->OpenWarp(0);
  cta.reset();
  DynInst inst;
  for (const auto& gather : gathers) {
    ASSERT_TRUE(cursor->Next(&inst)) << "the cursor keeps what it reads";
    for (size_t lane = 0; lane < kWarpSize; ++lane) {
      ASSERT_EQ(inst.base + inst.shape->offsets[lane], gather[lane]);
    }
  }
  EXPECT_FALSE(cursor->Next(&inst));
}

TEST(CtaRecorderTest, DroppedThreadBlocksLeaveOneArenaBehind) {
  CtaRecorder recorder;
  recorder.BeginKernel(1);
  std::mt19937_64 random(4);
  for (int round = 0; round < 6; ++round) {
    std::vector<std::array<uint64_t, kWarpSize>> gathers(10'000);
    for (auto& gather : gathers) {
      for (uint64_t& address : gather) address = random();
    }
    OneWarp(gathers, &recorder).reset();
    // The pool's arena, the one that the open thread block began in, and a shape's overshoot.
    EXPECT_LT(recorder.live_bytes(), 2 * ShapePool::kArenaBytes + 4096) << round;
  }
}

TEST(CtaRecorderTest, PlainInstructionsTakeBytesNotRecords) {
  constexpr uint32_t kWarps = 32;
  constexpr uint32_t kLoops = 10'000;
  CtaRecorder recorder;
  recorder.BeginKernel(10);
  ASSERT_TRUE(recorder.BeginCta({}, kWarps).ok());
  for (uint32_t i = 0; i < kLoops * 10; ++i) {
    for (uint32_t w = 0; w < kWarps; ++w) ASSERT_TRUE(recorder.Add(w, {i % 10, ~LaneMask{0}, {}}).ok());
  }
  const auto cta = recorder.EndCta().value();
  EXPECT_EQ(cta->warp_instructions(31), kLoops * 10);
  EXPECT_LT(recorder.live_bytes(), uint64_t{kLoops} * 10 * kWarps / 10) << "a tenth of a byte an instruction";
}

TEST(CtaRecorderTest, AThreadBlockBeyondItsLimitIsRefused) {
  CtaRecorder recorder({.cta_bytes = 1 << 20});
  recorder.BeginKernel(1);
  ASSERT_TRUE(recorder.BeginCta({}, 1).ok());
  std::mt19937_64 random(5);
  absl::Status status;
  uint32_t added = 0;
  for (; status.ok() && added < 100'000; ++added) {
    std::array<uint64_t, kWarpSize> gather{};
    for (uint64_t& address : gather) address = random();
    status = recorder.Add(0, {0, ~LaneMask{0}, gather});
  }
  ASSERT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_LT(added, (1u << 20) / 256);
  const std::vector<Fault> faults = FaultsOf(status);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].field, "bytes of one thread block");
  EXPECT_EQ(faults[0].expected, "at most 1048576");
  EXPECT_TRUE(recorder.BeginCta({}, 1).ok()) << "the next thread block starts afresh";
}

TEST(CtaRecorderTest, TooManyHeldThreadBlocksAreRefused) {
  CtaRecorder recorder({.live_bytes = 10'000});
  recorder.BeginKernel(1);
  std::vector<std::unique_ptr<CtaTrace>> held;
  absl::Status status;
  for (int i = 0; i < 1000 && status.ok(); ++i) {
    status = recorder.BeginCta({}, 1);
    if (!status.ok()) break;
    ASSERT_TRUE(recorder.Add(0, {0, 1, {}}).ok());
    held.push_back(recorder.EndCta().value());
  }
  ASSERT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(FaultsOf(status)[0].field, "bytes of all recorded thread blocks");
  held.clear();
  EXPECT_TRUE(recorder.BeginCta({}, 1).ok());
}

}  // namespace
}  // namespace sm89
