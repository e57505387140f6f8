// Simulation of a source that executes its thread blocks on demand, against the same instructions in a file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/trace/live_source.h"
#include "tests/support/trace_builder.h"

namespace sm89 {
namespace {

using testing::KernelScript;
using testing::TestConfig;
using testing::WarpScript;
using testing::WriteTrace;

// "Executes" the scripts of one kernel: warps one instruction in turn.
class ScriptProducer final : public CtaProducer {
 public:
  ScriptProducer(const KernelScript& kernel, const std::vector<StaticInst>& statics)
      : kernel_(kernel), statics_(statics) {}

  absl::Status Produce(uint32_t, uint64_t index, CtaRecorder* recorder) override {
    if (index == fail_at) return absl::OutOfRangeError("thread 3 reads address 0x10");
    const uint32_t warps = (kernel_.info.block.x + 31) / 32;
    std::vector<WarpScript> scripts;
    for (uint32_t w = 0; w < warps; ++w) scripts.push_back(kernel_.warp(static_cast<uint32_t>(index), w));
    bool left = true;
    for (size_t i = 0; left; ++i) {
      left = false;
      for (uint32_t w = 0; w < warps; ++w) {
        if (i >= scripts[w].lines().size()) continue;
        const WarpScript::Line& line = scripts[w].lines()[i];
        const auto id = std::find(statics_.begin(), statics_.end(), line.inst) - statics_.begin();
        RETURN_IF_ERROR(recorder->Add(w, {static_cast<uint32_t>(id), line.mask, line.addresses}));
        left = true;
      }
    }
    return absl::OkStatus();
  }
  uint64_t fail_at = UINT64_MAX;

 private:
  const KernelScript kernel_;
  const std::vector<StaticInst> statics_;
};

// A kernel as a live trace; its static table is that of warp 0 of CTA 0, which meets every instruction.
LiveTrace Live(const KernelScript& kernel) {
  LiveTrace live;
  live.info.name = "test";
  live.info.kernels = {kernel.info};
  live.info.commands = {{.kind = CommandKind::kKernel}};
  live.digest = std::string(64, 'a');
  live.statics.emplace_back();
  const WarpScript script = kernel.warp(0, 0);
  for (const WarpScript::Line& line : script.lines()) {
    std::vector<StaticInst>& table = live.statics[0];
    if (std::find(table.begin(), table.end(), line.inst) == table.end()) table.push_back(line.inst);
  }
  return live;
}

std::shared_ptr<LiveSource> Open(const KernelScript& kernel, LiveOptions options = {}) {
  LiveTrace live = Live(kernel);
  auto producer = std::make_unique<ScriptProducer>(kernel, live.statics[0]);
  return LiveSource::Create(std::move(live), std::move(producer), std::move(options)).value();
}

KernelScript Kernel(uint32_t ctas) {
  KernelScript kernel;
  kernel.info.grid = {ctas, 1, 1};
  kernel.info.block = {96, 1, 1};
  kernel.warp = [](uint32_t c, uint32_t w) {
    WarpScript s;
    s.ReadClock(2);
    for (uint32_t i = 0; i < 3; ++i) {
      s.At(16).Mem("LDG.E", {8}, {6}, 0x7f4c80000000 + (c * 3 + w) * 512 + i * 131072, 4);
      s.Op("FFMA", {9}, {8}).Mem("STS", {}, {6, 9}, w * 128, 4, 0x0FF0FFFF).Op("BAR.SYNC.DEFER_BLOCKING");
    }
    return s.At(96).ReadClock(4).Op("EXIT");
  };
  return kernel;
}

std::unique_ptr<Simulator> Start(std::shared_ptr<TraceSource> source, uint32_t threads = 1,
                                 uint64_t max_cycles = 0) {
  SimulatorOptions options;
  options.config = TestConfig();
  options.source = std::move(source);
  options.threads = threads;
  options.max_cycles = max_cycles;
  auto simulator = Simulator::Create(std::move(options));
  EXPECT_TRUE(simulator.ok()) << simulator.status();
  return *std::move(simulator);
}

RunReport Finish(Simulator* simulator) {
  for (int i = 0; i < 100'000; ++i) {
    const auto progress = simulator->Advance(1000);
    EXPECT_TRUE(progress.ok()) << progress.status();
    if (!progress.ok() || progress->done) break;
  }
  return simulator->Report();
}

// The report as JSON, without the digest, which a live source gives itself.
std::string Comparable(RunReport report) {
  report.trace_digest.clear();
  return ReportToJson(report);
}

TEST(LiveSimulationTest, GivesTheReportOfTheStoredTrace) {
  const KernelScript kernel = Kernel(300);
  const RunReport stored = testing::Simulate(WriteTrace({kernel}), TestConfig());
  for (const uint32_t threads : {1u, 3u}) {
    const RunReport live = Finish(Start(Open(kernel), threads).get());
    ASSERT_EQ(live.status, RunStatus::kComplete);
    EXPECT_EQ(Comparable(live), Comparable(stored));
    EXPECT_EQ(live.kernels[0].info.warp_instructions, stored.kernels[0].info.warp_instructions);
    EXPECT_EQ(live.kernels[0].info.thread_instructions, stored.kernels[0].info.thread_instructions);
  }
}

TEST(LiveSimulationTest, HowMuchIsToComeIsUnknown) {
  const auto simulator = Start(Open(Kernel(4)));
  EXPECT_EQ(simulator->Progress().warp_instructions_total, 0u);
  EXPECT_EQ(Finish(simulator.get()).kernels[0].info.warp_instructions, 4u * 3 * 15);
}

TEST(LiveSimulationTest, ACallExecutesABoundedNumberOfThreadBlocks) {
  KernelScript kernel;
  kernel.info.grid = {400, 1, 1};
  WarpScript script;
  // Independent of each other: a live source does not know its code's order before, which matters to the
  // synthesis of control bits (executed cubins have their own).
  for (int i = 0; i < 6000; ++i) script.At(0).Op("FADD", {8}, {9});
  script.Op("EXIT");
  kernel.warp = [&](uint32_t, uint32_t) { return script; };
  const std::string path = ::testing::TempDir() + "sm89_live_" + std::to_string(getpid());
  LiveOptions options;
  options.keep = CompactWriter::Create(path).value();
  const auto source = Open(kernel, std::move(options));
  const auto simulator = Start(source);
  // The launch latency passes, then the first wave, 2.4 million instructions, takes several calls.
  int calls_at_one_cycle = 0;
  uint64_t before = 0;
  uint64_t executed = 0;
  while (source->ctas_executed() < 400) {
    const auto progress = simulator->Advance(UINT64_MAX);
    ASSERT_TRUE(progress.ok()) << progress.status();
    calls_at_one_cycle += progress->cycle == before && source->ctas_executed() != 0 ? 1 : 0;
    EXPECT_LE(source->warp_instructions() - executed, 1'006'001u);
    before = progress->cycle;
    executed = source->warp_instructions();
  }
  EXPECT_GE(calls_at_one_cycle, 1);
  const RunReport live = Finish(simulator.get());
  ASSERT_TRUE(source->FinishKept().ok());
  const RunReport stored = testing::Simulate(path, TestConfig());
  EXPECT_EQ(Comparable(live), Comparable(stored)) << "calls do not show";
  std::filesystem::remove(path);
}

TEST(LiveSimulationTest, AFailedThreadBlockEndsTheRun) {
  const KernelScript kernel = Kernel(4);
  LiveTrace trace = Live(kernel);
  auto producer = std::make_unique<ScriptProducer>(kernel, trace.statics[0]);
  producer->fail_at = 2;
  const auto simulator = Start(LiveSource::Create(std::move(trace), std::move(producer)).value());
  absl::Status status;
  for (int i = 0; i < 100 && status.ok(); ++i) status = simulator->Advance(1000).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("address 0x10"));
}

TEST(LiveSimulationTest, AnOpcodeThatTheModelDoesNotKnowIsRefused) {
  KernelScript kernel;
  kernel.warp = [](uint32_t, uint32_t) { return WarpScript().Op("FADD").Op("HGMMA.64x8x16").Op("EXIT"); };
  SimulatorOptions options;
  options.config = TestConfig();
  options.source = Open(kernel);
  const auto simulator = Simulator::Create(std::move(options));
  ASSERT_EQ(simulator.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FaultsOf(simulator.status())[0].value, "HGMMA.64x8x16");
}

TEST(LiveSimulationTest, AfterACycleLimitTheRestCanStillBeExecuted) {
  const auto source = Open(Kernel(3000));
  const uint64_t limit = TestConfig().gpu.run.kernel_launch_latency_cycles + 200;
  const RunReport report = Finish(Start(source, 1, limit).get());
  EXPECT_EQ(report.status, RunStatus::kCycleLimit);
  EXPECT_GT(source->ctas_executed(), 0u);
  EXPECT_LT(source->ctas_executed(), 3000u);
  EXPECT_LE(report.kernels[0].info.warp_instructions, source->warp_instructions());
  ASSERT_TRUE(source->ExecuteRest().ok());
  EXPECT_EQ(source->ctas_executed(), 3000u);
}

TEST(LiveSimulationTest, TheReportSaysThatACubinWasExecuted) {
  KernelScript kernel = Kernel(2);
  kernel.info.origin = KernelOrigin::kCubin;
  const RunReport report = Finish(Start(Open(kernel)).get());
  EXPECT_TRUE(report.kernels[0].control_bits_present);
  const std::string json = ReportToJson(report);
  EXPECT_THAT(json, ::testing::HasSubstr("\"source\": \"cubin\""));
  EXPECT_THAT(json, ::testing::HasSubstr("\"control_bits_present\": true"));
  // Only its clock reads have encodings.
  EXPECT_EQ(report.kernels[0].control_bits, "synthesised");
  EXPECT_THAT(report.assumptions, ::testing::Contains(::testing::HasSubstr("set aside")));
}

}  // namespace
}  // namespace sm89
