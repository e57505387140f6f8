// What goes in comes out: random traces, edge cases, determinism, identity.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <random>
#include <thread>

#include "tests/unit/sim_trace/trace_model.h"

namespace sm89 {
namespace {

using testing::ExpectSame;
using testing::ModelInst;
using testing::ModelKernel;
using testing::ModelTrace;
using testing::RandomTrace;
using testing::ReadFile;
using testing::SmallKernel;
using testing::Static;
using testing::TempPath;
using testing::Write;

class RoundTrip : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  const std::string path_ = TempPath("roundtrip");
};

TEST_F(RoundTrip, RandomTraces) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const ModelTrace trace = RandomTrace(seed, /*long_warps=*/seed % 10 == 0);
    const auto written = Write(trace, path_);
    ASSERT_TRUE(written.ok()) << written.status();
    EXPECT_EQ(written->file_bytes, std::filesystem::file_size(path_));
    const auto reader = CompactReader::Open(path_);
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ((*reader)->digest(), written->digest);
    ExpectSame(trace, reader->get());
    const absl::Status verified = (*reader)->VerifyAll();
    ASSERT_TRUE(verified.ok()) << verified;
    if (HasFailure()) return;
  }
}

TEST_F(RoundTrip, SameInputGivesSameBytes) {
  const ModelTrace trace = RandomTrace(7, true);
  ASSERT_TRUE(Write(trace, path_).ok());
  const std::string once = ReadFile(path_);
  ASSERT_TRUE(Write(trace, path_).ok());
  EXPECT_EQ(once, ReadFile(path_));
}

TEST_F(RoundTrip, EmptySetAndEmptyKernel) {
  ModelTrace trace;
  ASSERT_TRUE(Write(trace, path_).ok());
  auto reader = CompactReader::Open(path_);
  ASSERT_TRUE(reader.ok()) << reader.status();
  ExpectSame(trace, reader->get());

  trace.kernels.push_back(SmallKernel(0, 1));
  trace.kernels.push_back(SmallKernel(1, 1));
  trace.kernels[1].ctas[0].warps.clear();
  ASSERT_TRUE(Write(trace, path_).ok());
  reader = CompactReader::Open(path_);
  ASSERT_TRUE(reader.ok()) << reader.status();
  ExpectSame(trace, reader->get());
  EXPECT_TRUE((*reader)->VerifyAll().ok());
}

// A warp of `length` instructions that walk an array, with a branch back every 100.
void AddLoop(uint32_t length, ModelKernel* kernel) {
  for (uint32_t i = 0; i < 100; ++i) kernel->statics.push_back(Static(16 * i, "OP" + std::to_string(i)));
  for (auto& cta : kernel->ctas) {
    for (auto& warp : cta.warps) {
      for (uint32_t i = 0; i < length; ++i) {
        ModelInst inst{.id = i % 100, .mask = ~LaneMask{0}};
        if (i % 10 == 0) {
          for (uint64_t lane = 0; lane < 32; ++lane)
            inst.addresses.push_back(0x7f0000000000 + i * 128 + lane * 4);
        }
        warp.insts.push_back(std::move(inst));
      }
    }
  }
}

TEST_F(RoundTrip, WarpsOfDifferentLengthAcrossSegments) {
  ModelTrace trace;
  trace.kernels.push_back(SmallKernel(3, 4));
  AddLoop(20'000, &trace.kernels[0]);
  for (auto& cta : trace.kernels[0].ctas) {
    cta.warps[1].insts.resize(4096);  // exactly one segment
    cta.warps[2].insts.resize(4097);
    cta.warps[3].insts.clear();
  }
  ASSERT_TRUE(Write(trace, path_).ok());
  const auto reader = CompactReader::Open(path_);
  ASSERT_TRUE(reader.ok()) << reader.status();
  ExpectSame(trace, reader->get());
  EXPECT_TRUE((*reader)->VerifyAll().ok());
}

// Shapes that were new long ago are written again into each chunk that uses them: 64 warps that each repeat a
// thousand of their own must not make one chunk of them all.
TEST_F(RoundTrip, RepeatedShapesStayInsideTheChunkLimit) {
  constexpr uint64_t kShapes = 1024;
  auto writer = CompactWriter::Create(path_);
  ASSERT_TRUE(writer.ok());
  const KernelInfo info = SmallKernel(1, 64).info;
  ASSERT_TRUE((*writer)->BeginKernel(info).ok());
  ASSERT_TRUE((*writer)->BeginCta({0, 0, 0}).ok());
  for (uint32_t warp = 0; warp < 64; ++warp) {
    ASSERT_TRUE((*writer)->BeginWarp(warp).ok());
    const uint32_t id = (*writer)->AddStatic(Static(0, "LDG.E"));
    for (int round = 0; round < 2; ++round) {
      std::mt19937_64 random(warp);
      for (uint64_t i = 0; i < kShapes; ++i) {
        std::array<uint64_t, kWarpSize> addresses{};
        for (uint64_t& address : addresses) address = random();
        ASSERT_TRUE((*writer)->Add({id, ~LaneMask{0}, addresses}).ok());
      }
    }
    ASSERT_TRUE((*writer)->EndWarp().ok());
  }
  ASSERT_TRUE((*writer)->EndCta().ok());
  ASSERT_TRUE((*writer)->EndKernel(info).ok());
  ASSERT_TRUE((*writer)->Finish({}).ok());
  const auto reader = CompactReader::Open(path_);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const absl::Status verified = (*reader)->VerifyAll();
  EXPECT_TRUE(verified.ok()) << verified;
}

TEST_F(RoundTrip, WriterRefusesBlocksThatNoGpuRuns) {
  for (const Dim3& block : {Dim3{0, 1, 1}, Dim3{2049, 1, 1}, Dim3{65536, 65536, 65536}}) {
    auto writer = CompactWriter::Create(path_);
    ASSERT_TRUE(writer.ok());
    KernelInfo info = SmallKernel(1, 1).info;
    info.block = block;
    EXPECT_EQ((*writer)->BeginKernel(info).code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(RoundTrip, KernelRecordsAreBounded) {
  auto writer = CompactWriter::Create(path_);
  ASSERT_TRUE(writer.ok());
  KernelInfo info = SmallKernel(1, 1).info;
  info.name.assign(size_t{16} << 20, 'n');
  absl::Status status;
  int kernels = 0;
  for (; status.ok() && kernels < 20; ++kernels) {
    ASSERT_TRUE((*writer)->BeginKernel(info).ok());
    status = (*writer)->EndKernel(info);
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(kernels, 16) << "256 MiB";
}

TEST_F(RoundTrip, ShapeIdsDoNotDependOnTheOrderOfLoading) {
  ASSERT_TRUE(Write(RandomTrace(20, true), path_).ok());
  const auto ids = [&](bool backwards) {
    const auto reader = CompactReader::Open(path_).value();
    const uint64_t n = reader->NumCtas(0);
    std::vector<std::vector<uint32_t>> found(n);
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t c = backwards ? n - 1 - i : i;
      const auto cta = reader->OpenCta(0, c).value();
      for (uint32_t w = 0; w < cta->num_warps(); ++w) {
        const auto cursor = cta->OpenWarp(w);
        DynInst inst;
        while (cursor != nullptr && cursor->Next(&inst)) {
          if (inst.shape != nullptr) found[c].push_back(inst.shape->id);
        }
      }
    }
    return found;
  };
  EXPECT_EQ(ids(false), ids(true));
}

TEST_F(RoundTrip, ManyThreadsReadTheSameTrace) {
  const ModelTrace trace = RandomTrace(30, true);
  ASSERT_TRUE(Write(trace, path_).ok());
  const auto reader = CompactReader::Open(path_);
  ASSERT_TRUE(reader.ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back([&] { ExpectSame(trace, reader->get()); });
  for (std::thread& t : threads) t.join();
}

TEST_F(RoundTrip, CursorOutlivesReaderAndCta) {
  ModelTrace trace;
  trace.kernels.push_back(SmallKernel(1, 1));
  AddLoop(10'000, &trace.kernels[0]);
  ASSERT_TRUE(Write(trace, path_).ok());
  std::unique_ptr<WarpCursor> cursor;
  {
    const auto reader = CompactReader::Open(path_);
    const auto cta = (*reader)->OpenCta(0, 0);
    cursor = (*cta)->OpenWarp(0);
  }
  DynInst inst;
  uint64_t count = 0;
  while (cursor->Next(&inst)) ++count;
  EXPECT_EQ(count, 10'000u);
  EXPECT_TRUE(cursor->status().ok());
}

TEST_F(RoundTrip, AbandonedWriterLeavesNothing) {
  {
    auto writer = CompactWriter::Create(path_);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE((*writer)->BeginKernel(SmallKernel(1, 1).info).ok());
    EXPECT_TRUE(std::filesystem::exists(path_ + ".tmp"));
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_FALSE(std::filesystem::exists(path_ + ".tmp"));
}

TEST_F(RoundTrip, WriterRefusesWhatTheFormatCannotHold) {
  auto writer = CompactWriter::Create(path_);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->BeginKernel(SmallKernel(2, 1).info).ok());
  EXPECT_EQ((*writer)->BeginCta({2, 0, 0}).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE((*writer)->BeginCta({1, 0, 0}).ok());
  EXPECT_EQ((*writer)->BeginWarp(64).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE((*writer)->BeginWarp(0).ok());
  const uint32_t id = (*writer)->AddStatic(Static(0, "LDG.E"));
  EXPECT_EQ((*writer)->AddStatic(Static(0, "LDG.E")), id);
  const std::vector<uint64_t> two = {1, 2};
  EXPECT_EQ((*writer)->Add({id, 7, two}).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE((*writer)->EndWarp().ok());
  EXPECT_EQ((*writer)->BeginWarp(0).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(RoundTrip, CreateNamesThePathItCannotWrite) {
  const auto writer = CompactWriter::Create("/nonexistent-folder/trace");
  ASSERT_EQ(writer.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(writer.status().message()), ::testing::HasSubstr("/nonexistent-folder/trace"));
}

}  // namespace
}  // namespace sm89
