// A source that executes its thread blocks on demand: order, what is kept, what is refused.
#include "sim/trace/live_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/sim_trace/trace_model.h"

namespace sm89 {
namespace {

using testing::ModelCta;
using testing::ModelKernel;
using testing::ModelTrace;
using testing::SmallKernel;
using testing::Static;
using testing::TempPath;

// "Executes" by reading a model; notes the order.
class ModelProducer final : public CtaProducer {
 public:
  ModelProducer(const ModelTrace* trace, std::vector<std::pair<uint32_t, uint64_t>>* calls)
      : trace_(*trace), calls_(*calls) {}
  absl::Status Produce(uint32_t kernel, uint64_t index, CtaRecorder* recorder) override {
    calls_.emplace_back(kernel, index);
    if (index == fail_at) return absl::OutOfRangeError("address 0x10 of thread 3");
    for (const testing::ModelWarp& warp : trace_.kernels[kernel].ctas[index].warps) {
      for (const testing::ModelInst& inst : warp.insts) {
        RETURN_IF_ERROR(recorder->Add(warp.warp, {inst.id, inst.mask, inst.addresses}));
      }
    }
    return absl::OkStatus();
  }
  uint64_t fail_at = UINT64_MAX;

 private:
  const ModelTrace& trace_;
  std::vector<std::pair<uint32_t, uint64_t>>& calls_;
};

// Two kernels of 3 and 2 thread blocks with two warps each.
ModelTrace TwoKernels() {
  ModelTrace trace;
  for (const uint32_t ctas : {3u, 2u}) {
    ModelKernel k = SmallKernel(ctas, 2);
    k.info.grid_ctas = ctas;
    k.statics = {Static(0, "FADD"), Static(16, "LDG.E"), Static(32, "NOP"), Static(48, "EXIT")};
    for (ModelCta& cta : k.ctas) {
      for (testing::ModelWarp& warp : cta.warps) {
        warp.insts = {{.id = 0, .mask = ~LaneMask{0}},
                      {.id = 1, .mask = 3, .addresses = {cta.id.x * 64 + warp.warp, 8}},
                      {.id = 3, .mask = ~LaneMask{0}}};
      }
    }
    trace.set.commands.push_back(
        {.kind = CommandKind::kKernel, .kernel = static_cast<uint32_t>(trace.kernels.size())});
    trace.kernels.push_back(std::move(k));
  }
  trace.set.name = "model";
  return trace;
}

class LiveSourceTest : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  LiveTrace Live() const {
    LiveTrace live{.info = model_.set, .digest = std::string(64, 'a')};
    for (const ModelKernel& k : model_.kernels) {
      live.info.kernels.push_back(k.info);
      live.statics.push_back(k.statics);
    }
    return live;
  }
  std::shared_ptr<LiveSource> Open(LiveOptions options = {}) {
    return LiveSource::Create(Live(), std::make_unique<ModelProducer>(&model_, &calls_), std::move(options))
        .value();
  }

  ModelTrace model_ = TwoKernels();
  std::vector<std::pair<uint32_t, uint64_t>> calls_;
  const std::string path_ = TempPath("live");
};

TEST_F(LiveSourceTest, ThreadBlocksAreExecutedWhenTheyAreOpened) {
  const auto source = Open();
  EXPECT_TRUE(source->live());
  EXPECT_EQ(source->NumCtas(0), 3u);
  EXPECT_EQ(source->CtaId(0, 2), (Dim3{2, 0, 0}));
  EXPECT_EQ(source->info().kernels[0].warp_instructions, 0u) << "not known before";
  EXPECT_TRUE(calls_.empty());
  for (uint64_t i = 0; i < 3; ++i) {
    const auto cta = source->OpenCta(0, i);
    ASSERT_TRUE(cta.ok()) << cta.status();
    EXPECT_EQ(calls_.size(), i + 1);
    for (const testing::ModelWarp& warp : model_.kernels[0].ctas[i].warps) {
      testing::ExpectSameWarp(model_.kernels[0], warp, source->StaticTable(0), **cta);
    }
  }
  EXPECT_EQ(source->warp_instructions(), 18u);
}

TEST_F(LiveSourceTest, WhatTheRunLeavesOutIsExecutedBeforeALaterKernel) {
  const auto source = Open();
  ASSERT_TRUE(source->OpenCta(0, 0).ok());
  ASSERT_TRUE(source->OpenCta(1, 0).ok());
  ASSERT_TRUE(source->ExecuteRest().ok());
  const std::vector<std::pair<uint32_t, uint64_t>> want = {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}};
  EXPECT_EQ(calls_, want);
  EXPECT_EQ(source->ctas_executed(), 5u);
}

TEST_F(LiveSourceTest, TheKeptTraceIsTheOneThatAWriterWouldHaveMade) {
  const auto written = testing::Write(model_, path_);
  ASSERT_TRUE(written.ok()) << written.status();
  LiveOptions options;
  options.keep = CompactWriter::Create(path_).value();
  const auto source = Open(std::move(options));
  ASSERT_TRUE(source->OpenCta(0, 0).ok());
  const auto kept = source->FinishKept();
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(kept->digest, written->digest);
  const auto reader = CompactReader::Open(path_);
  ASSERT_TRUE(reader.ok()) << reader.status();
  testing::ExpectSame(model_, reader->get());
  EXPECT_EQ((*reader)->StaticTable(0).size(), 3u) << "NOP was not executed";
}

TEST_F(LiveSourceTest, AKeptTraceRemembersThatItWasEmulated) {
  for (const bool emulated : {true, false}) {
    if (emulated) model_.set.marks = {{kEmulatedMark, "executed from machine code", 5}};
    if (!emulated) model_.set.marks.clear();
    LiveOptions options;
    options.keep = CompactWriter::Create(path_).value();
    ASSERT_TRUE(Open(std::move(options))->FinishKept().ok());
    const auto reader = CompactReader::Open(path_).value();
    EXPECT_EQ(reader->info().kernels[0].origin, emulated ? KernelOrigin::kCubin : KernelOrigin::kTrace);
    EXPECT_TRUE(reader->VerifyAll().ok());
  }
}

TEST_F(LiveSourceTest, AFailedThreadBlockStopsTheSource) {
  auto producer = std::make_unique<ModelProducer>(&model_, &calls_);
  producer->fail_at = 1;
  const auto source = LiveSource::Create(Live(), std::move(producer)).value();
  ASSERT_TRUE(source->OpenCta(0, 0).ok());
  EXPECT_EQ(source->OpenCta(0, 1).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(source->OpenCta(1, 0).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(source->ExecuteRest().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(calls_.size(), 2u);
}

TEST_F(LiveSourceTest, RefusesWhatCannotRun) {
  const auto code = [&](const auto& change) {
    LiveTrace live = Live();
    change(&live.info.kernels[1]);
    return LiveSource::Create(std::move(live), std::make_unique<ModelProducer>(&model_, &calls_))
        .status()
        .code();
  };
  EXPECT_EQ(code([](KernelInfo*) {}), absl::StatusCode::kOk);
  EXPECT_EQ(code([](KernelInfo* k) { k->block = {4096, 1, 1}; }), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](KernelInfo* k) { k->grid.y = 0; }), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](KernelInfo* k) { k->stream_id = 7; }), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sm89
