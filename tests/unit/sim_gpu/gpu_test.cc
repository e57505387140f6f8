// Whole-GPU behaviour on small hand-written traces: exact cycles where the model states them.
#include <gtest/gtest.h>

#include "sim/base/fault.h"
#include "sim/gpu/launch_queue.h"
#include "sim/gpu/occupancy.h"
#include "sim/stats/pc_profile.h"
#include "tests/support/trace_builder.h"

namespace sm89 {
namespace {

using testing::KernelScript;
using testing::Simulate;
using testing::TestConfig;
using testing::WarpScript;
using testing::WriteTrace;

// No launch latency and all code in the instruction caches: the first issue is in cycle 2, when the first
// instruction has been decoded.
Config NoLatency(std::vector<NamedOverride> more = {}) {
  more.push_back({"-gpgpu_kernel_launch_latency", "0"});
  more.push_back({"-gpgpu_sm89_perfect_icache", "1"});
  return TestConfig(more);
}
constexpr uint64_t kFirstIssue = 2;

RunReport RunOneWarp(const WarpScript& script, const Config& config = NoLatency()) {
  KernelScript kernel;
  kernel.warp = [&](uint32_t, uint32_t) { return script; };
  return Simulate(WriteTrace({kernel}), config);
}

WarpScript Chain(const std::string& opcode, int length) {
  WarpScript s;
  for (int i = 0; i < length; ++i) s.Op(opcode, {4}, {4});
  return s.Op("EXIT");
}

// Cycles that `n` more links of a dependent chain cost.
uint64_t ChainCost(const std::string& opcode, int n) {
  return RunOneWarp(Chain(opcode, 10 + n)).kernels[0].cycles -
         RunOneWarp(Chain(opcode, 10)).kernels[0].cycles;
}

TEST(GpuTimingTest, DependentChainsRunAtTheUnitsLatency) {
  EXPECT_EQ(ChainCost("FADD", 100), 400u);
  EXPECT_EQ(ChainCost("FFMA", 100), 400u);
  EXPECT_EQ(ChainCost("IMAD", 100), 400u);
  EXPECT_EQ(ChainCost("IADD3", 100), 400u);
  EXPECT_EQ(ChainCost("HFMA2", 100), 400u) << "ptxas lets half precision follow itself after 4";
  EXPECT_EQ(ChainCost("MUFU.RCP", 10), 10u * TestConfig().gpu.exec.sfu.latency_cycles);
  EXPECT_EQ(ChainCost("DFMA", 10), 540u);
}

TEST(GpuTimingTest, IndependentFp32OfOneWarpIssuesEveryCycle) {
  const auto run = [](int n) {
    WarpScript s;
    for (int i = 0; i < n; ++i) s.Op("FADD", {4 + i % 16}, {30});
    return RunOneWarp(s.Op("EXIT")).kernels[0].cycles;
  };
  EXPECT_EQ(run(132) - run(32), 100u);
}

TEST(GpuTimingTest, PredicateProducerHoldsTheBranch) {
  // A loop of two iterations: the branch has two ways to go and so is a guarded one.
  const auto run = [](const std::string& producer) {
    WarpScript s;
    s.Op(producer, {}, {4}).Op("BRA").At(0).Op(producer, {}, {4}).Op("BRA").Op("EXIT");
    return RunOneWarp(s).kernels[0].cycles;
  };
  // A guard is read 13 cycles behind its comparison; IADD3 gives way to the branch in the next cycle. A
  // branch with lanes that take it redirects the warp; EXIT leaves in the cycle behind its issue.
  const GpuConfig gpu = TestConfig().gpu;
  EXPECT_EQ(run("ISETP.GE.AND") - run("IADD3"), 2 * (13u - 1));
  EXPECT_EQ(run("IADD3"), kFirstIssue + 2 * (1 + gpu.front.branch_redirect_cycles) + 1);
}

// The first fault of opening a trace with one tensor instruction.
Fault RefusalOf(const std::string& opcode, std::vector<NamedOverride> settings) {
  KernelScript kernel;
  kernel.warp = [&](uint32_t, uint32_t) { return WarpScript().Op(opcode, {4}, {8, 16, 4}).Op("EXIT"); };
  SimulatorOptions options;
  options.trace_path = WriteTrace({kernel});
  options.config = TestConfig(settings);
  const auto simulator = Simulator::Create(std::move(options));
  const std::vector<Fault> faults = FaultsOf(simulator.status());
  return faults.empty() ? Fault{} : faults[0];
}

TEST(TensorModeTest, ASwitchedOffModeIsRefusedBeforeCycleZero) {
  const std::vector<NamedOverride> no_fp8 = {{"-gpgpu_sm89_tc_fp8_enabled", "0"}};
  const Fault fp8 = RefusalOf("QMMA.16832.F32.E4M3.E4M3", no_fp8);
  EXPECT_EQ(fp8.value, "QMMA.16832.F32.E4M3.E4M3");
  EXPECT_NE(fp8.message.find("-gpgpu_sm89_tc_fp8_enabled 0 switches off"), std::string::npos) << fp8.message;
  EXPECT_NE(fp8.expected.find("-gpgpu_sm89_tc_fp8_enabled 1"), std::string::npos) << fp8.expected;
  EXPECT_EQ(RefusalOf("HMMA.SP.16832.F32", no_fp8).message, "");
  const std::vector<NamedOverride> no_sparse = {{"-gpgpu_sm89_tc_sparse_enabled", "0"}};
  EXPECT_NE(RefusalOf("HMMA.SP.16832.F32", no_sparse).message.find("-gpgpu_sm89_tc_sparse_enabled 0"),
            std::string::npos);
  EXPECT_EQ(RefusalOf("QMMA.16832.F32.E4M3.E4M3", no_sparse).message, "");
  EXPECT_EQ(RefusalOf("QMMA.SP.16864.F32.E4M3.E4M3", {}).message, "") << "on by default";
}

TEST(GpuTimingTest, ColdCodeComesFromTheL2) {
  const Config config = TestConfig({{"-gpgpu_kernel_launch_latency", "0"}});
  const FrontEndConfig& front = config.gpu.front;
  const uint64_t cold = RunOneWarp(WarpScript().Op("EXIT"), config).kernels[0].cycles;
  EXPECT_EQ(cold, front.l1_miss_cycles + front.l0_miss_cycles + front.fetch_decode_cycles + 1);
}

TEST(GpuTimingTest, L1HitAndMissLatencies) {
  const Config config = NoLatency();
  const auto run = [&](int loads) {
    WarpScript s;
    for (int i = 0; i < loads; ++i) s.Mem("LDG.E", {4}, {4}, 0x7f4c80000000, 0);
    return RunOneWarp(s.Op("EXIT"), config).kernels[0];
  };
  const KernelReport two = run(2);
  EXPECT_EQ(run(12).cycles - two.cycles, 10u * config.gpu.l1.latency_cycles) << "hits";
  EXPECT_EQ(two.stats.l1.global_load_sectors, 2u);
  EXPECT_EQ(two.stats.l1.global_load_hits, 1u);
  EXPECT_EQ(two.stats.dram.read_sectors, 1u);
}

TEST(GpuTimingTest, HostCopyMakesTheL2HitAlsoAbove4GiB) {
  TraceCommand copy;
  copy.kind = CommandKind::kMemcpyHtoD;
  copy.address = 0x7f4c80000000;
  copy.bytes = 4096;
  KernelScript kernel;
  kernel.warp = [](uint32_t, uint32_t) {
    return WarpScript().Mem("LDG.E", {4}, {2}, 0x7f4c80000000, 4).Op("FADD", {5}, {4}).Op("EXIT");
  };
  const RunReport warm = Simulate(WriteTrace({kernel}, {copy}), NoLatency());
  const RunReport cold = Simulate(WriteTrace({kernel}), NoLatency());
  EXPECT_EQ(warm.kernels[0].stats.l2.read_hits, 4u);
  EXPECT_EQ(warm.kernels[0].stats.dram.read_sectors, 0u);
  EXPECT_EQ(warm.totals.l2.memcpy_fill_sectors, 128u);
  EXPECT_EQ(cold.kernels[0].stats.l2.read_hits, 0u);
  EXPECT_GT(cold.kernels[0].cycles, warm.kernels[0].cycles + 150);
  // Round trip of an L2 hit: about 280 cycles on average over SMs and slices (L40, RTX 4090).
  EXPECT_GT(warm.kernels[0].cycles, 210u);
  EXPECT_LT(warm.kernels[0].cycles, 350u);
}

TEST(GpuTimingTest, TheWindowDoesNotShowInALatency) {
  TraceCommand copy;
  copy.kind = CommandKind::kMemcpyHtoD;
  copy.address = 0x7f4c80000000;
  copy.bytes = 1 << 20;
  KernelScript kernel;
  kernel.warp = [](uint32_t, uint32_t) {
    WarpScript s;
    for (int i = 0; i < 8; ++i) s.Mem("LDG.E.STRONG.GPU", {4}, {4}, 0x7f4c80000000 + i * 4096, 4);
    return s.Mem("LDG.E", {4}, {4}, 0x7f4c90000000, 4).Op("EXIT");
  };
  const std::string path = WriteTrace({kernel}, {copy});
  const uint64_t cycles = Simulate(path, NoLatency({{"-gpgpu_sm89_window_cycles", "1"}})).total_cycles;
  for (const char* window : {"7", "32", "61"}) {
    EXPECT_EQ(Simulate(path, NoLatency({{"-gpgpu_sm89_window_cycles", window}})).total_cycles, cycles)
        << window;
  }
}

TEST(GpuTimingTest, StoresRunAtTheDramsPaceOnceTheL2IsFull) {
  KernelScript kernel;
  kernel.info.grid = {512, 1, 1};
  kernel.info.block = {256, 1, 1};
  kernel.warp = [](uint32_t c, uint32_t w) {
    WarpScript s;
    for (uint64_t i = 0; i < 16; ++i) {
      s.At(0).Mem("STG.E", {}, {2, 4}, 0x7f4c80000000 + ((i * 512 + c) * 8 + w) * 128, 4);
    }
    return s.Op("EXIT");
  };
  // A small L2 (48 x 16 KiB) and one channel's worth of bandwidth for each two slices.
  const Config config = NoLatency({{"-gpgpu_cache:dl2", "S:8:128:16,L:B:m:L:L,A:192:4,32:0,32"}});
  const RunReport report = Simulate(WriteTrace({kernel}), config);
  ASSERT_EQ(report.status, RunStatus::kComplete) << report.status_detail;
  const double written = static_cast<double>(report.totals.dram.write_sectors) * 32;
  const double peak_per_cycle = 24 * 42.0 / 2.52;
  EXPECT_GT(report.totals.dram.write_sectors, 200'000u);
  EXPECT_LT(written / static_cast<double>(report.total_cycles), 1.05 * peak_per_cycle);
}

TEST(GpuTimingTest, SleepIsNoDeadlock) {
  WarpScript s;
  s.Op("NANOSLEEP", {}, {}, ~LaneMask{0}, 100'000).Op("EXIT");
  const RunReport report = RunOneWarp(s, NoLatency({{"-gpgpu_sm89_deadlock_cycles", "10000"}}));
  EXPECT_EQ(report.status, RunStatus::kComplete) << report.status_detail;
  EXPECT_GT(report.totals.sm.stall_sleeping, 250'000u);
}

TEST(GpuTimingTest, ArrivalsOfWarpsThatLeftDoNotOpenABarrier) {
  KernelScript kernel;
  kernel.info.block = {128, 1, 1};
  kernel.warp = [](uint32_t, uint32_t w) {
    WarpScript s;
    if (w == 0) return s.Op("BAR.ARV").Op("EXIT");
    if (w == 3) {
      for (int i = 0; i < 100; ++i) s.Op("FADD", {4}, {4});
    }
    return s.At(0x1000).Op("BAR.SYNC").Op("EXIT");
  };
  const RunReport report = Simulate(WriteTrace({kernel}), NoLatency());
  EXPECT_GE(report.totals.sm.stall_barrier, 2u * 300u) << "two warps wait for the slow one";
}

TEST(GpuStreamsTest, AKernelThatBecomesReadyLaterFindsTheIdleSms) {
  std::vector<KernelScript> kernels(2);
  for (uint32_t k = 0; k < 2; ++k) {
    kernels[k].info.id = k + 1;
    kernels[k].info.stream_id = k;
    kernels[k].info.grid = {k == 0 ? 10u : 100u, 1, 1};
    kernels[k].warp = [k](uint32_t, uint32_t) { return Chain("FADD", k == 0 ? 20'000 : 10); };
  }
  const RunReport report = Simulate(WriteTrace(kernels), TestConfig());
  EXPECT_LT(report.kernels[1].end_cycle, report.kernels[0].end_cycle / 2);
}

TEST(GpuTimingTest, MaskedOffLoadsMakeNoRequestAndFreeTheirDestination) {
  WarpScript s;
  s.Op("LDG.E", {4}, {2}, 0).Op("FADD", {5}, {4}).Op("EXIT");
  const RunReport report = RunOneWarp(s);
  EXPECT_EQ(report.totals.l1.requests, 0u);
  EXPECT_EQ(report.totals.sm.masked_off_instructions, 1u);
  EXPECT_EQ(report.totals.sm.warp_instructions, 3u);
  EXPECT_EQ(report.totals.sm.thread_instructions, 64u);
}

TEST(GpuTimingTest, BarrierWaitsForTheSlowestAndIgnoresAbsentWarps) {
  KernelScript kernel;
  kernel.info.block = {128, 1, 1};
  kernel.warp = [](uint32_t, uint32_t w) {
    WarpScript s;
    if (w == 2) return s;
    if (w == 1) {
      for (int i = 0; i < 50; ++i) s.Op("FADD", {4}, {4});
    }
    return s.At(0x1000).Op("BAR.SYNC").Op("EXIT");
  };
  const RunReport report = Simulate(WriteTrace({kernel}), NoLatency());
  EXPECT_EQ(report.status, RunStatus::kComplete);
  EXPECT_GE(report.kernels[0].cycles, 49u * 4u) << "fifty dependent FADDs";
  EXPECT_GE(report.totals.sm.stall_barrier, 2u * 150u);
  EXPECT_EQ(report.totals.sm.warps_completed, 4u);
}

TEST(GpuTimingTest, DepbarWaitsForTheOlderGroupOnly) {
  const auto script = [](int64_t allowed) {
    WarpScript s;
    s.Mem("LDGSTS.E.BYPASS.128", {}, {10, 4}, 0x7f4c80000000, 16).Op("LDGDEPBAR");
    for (int i = 0; i < 600; ++i) s.Op("FADD", {4}, {4});
    s.Mem("LDGSTS.E.BYPASS.128", {}, {11, 5}, 0x7f4c80100000, 16).Op("LDGDEPBAR");
    return s.Op("DEPBAR.LE", {}, {}, ~LaneMask{0}, allowed).Op("FADD", {6}, {6}).Op("EXIT");
  };
  const RunReport one = RunOneWarp(script(1));
  const RunReport zero = RunOneWarp(script(0));
  EXPECT_LT(one.totals.sm.stall_long_scoreboard, 20u) << "the first group is back after 2400 cycles";
  EXPECT_GT(zero.totals.sm.stall_long_scoreboard, 200u);
  EXPECT_EQ(zero.totals.sm.warp_instructions, one.totals.sm.warp_instructions);
}

TEST(GpuTimingTest, MembarWaitsForStores) {
  WarpScript s;
  s.Mem("STG.E", {}, {2, 4}, 0x7f4c80000000, 4).Op("MEMBAR.SC.GPU").Op("FADD", {5}, {5}).Op("EXIT");
  const RunReport report = RunOneWarp(s);
  // The fence's own 186 cycles are over long before the store is acknowledged.
  const L1Config l1 = TestConfig().gpu.l1;
  EXPECT_GT(report.totals.sm.stall_membar, l1.membar_gpu_cycles + 30u);
  EXPECT_EQ(report.totals.l2.write_sectors, 4u);
}

TEST(GpuTimingTest, StallReasonsAddUpToResidentCycles) {
  KernelScript kernel;
  kernel.info.grid = {300, 1, 1};
  kernel.info.block = {96, 1, 1};
  kernel.warp = [](uint32_t c, uint32_t w) {
    WarpScript s;
    const uint64_t base = 0x7f4c80000000 + c * 4096 + w * 128;
    s.Mem("LDG.E", {4}, {2}, base, 4).Op("FADD", {5}, {4}).Op("BAR.SYNC");
    s.Mem("STS", {}, {3, 5}, w * 128, 4).Mem("LDS", {6}, {3}, w * 128, 8).Op("MUFU.RCP", {7}, {6});
    return s.Op("SHFL.IDX", {}, {7}).Mem("STG.E", {}, {2, 7}, base, 4).Op("EXIT");
  };
  const RunReport report = Simulate(WriteTrace({kernel}), NoLatency());
  const SmStats& s = report.totals.sm;
  uint64_t sum = 0;
  for (uint64_t SmStats::*counter : kWarpStateCounters) sum += s.*counter;
  EXPECT_EQ(sum, s.resident_warp_cycles);
  EXPECT_EQ(s.stall_selected, s.warp_instructions);
  EXPECT_EQ(s.warp_instructions + s.issue_slots_stalled + s.issue_slots_empty, s.issue_slots);
  EXPECT_EQ(s.ctas_completed, 300u);
  EXPECT_EQ(report.totals.l1.shared_bank_conflicts, 300u * 3u) << "LDS with stride 8: two passes";
  // Requests in = replies out.
  EXPECT_EQ(report.totals.noc.request_packets, report.totals.noc.reply_packets);
}

TEST(GpuStreamsTest, StreamsOverlapAndKeepTheirOrder) {
  std::vector<KernelScript> kernels(3);
  for (int k = 0; k < 3; ++k) {
    kernels[k].info.id = k + 1;
    kernels[k].info.stream_id = k == 2 ? 0xffffe1f2c8a20000 : 94117936320480;
    kernels[k].warp = [](uint32_t, uint32_t) { return Chain("FADD", 2000); };
  }
  const RunReport report = Simulate(WriteTrace(kernels), TestConfig());
  ASSERT_EQ(report.kernels.size(), 3u);
  EXPECT_GE(report.kernels[1].start_cycle, report.kernels[0].end_cycle);
  EXPECT_LT(report.kernels[2].start_cycle, report.kernels[0].end_cycle);
  for (uint32_t k = 0; k < 3; ++k) EXPECT_EQ(report.kernels[k].info.id, k + 1) << "list order";
}

TEST(GpuLimitsTest, CycleLimitKeepsTheStatisticsSoFar) {
  KernelScript kernel;
  kernel.warp = [](uint32_t, uint32_t) { return Chain("FADD", 2000); };
  const RunReport report = Simulate(WriteTrace({kernel}), NoLatency(), 1, 1000);
  EXPECT_EQ(report.status, RunStatus::kCycleLimit);
  EXPECT_FALSE(report.kernels[0].finished);
  EXPECT_EQ(report.total_cycles, 1000u);
  EXPECT_NEAR(static_cast<double>(report.totals.sm.warp_instructions), 250, 2);
  EXPECT_EQ(report.totals.sm.resident_warp_cycles, 1000u);
}

TEST(GpuLimitsTest, LongLaunchLatencyIsNoDeadlock) {
  KernelScript kernel;
  kernel.warp = [](uint32_t, uint32_t) { return Chain("FADD", 4); };
  const RunReport report = Simulate(
      WriteTrace({kernel}),
      TestConfig({{"-gpgpu_kernel_launch_latency", "7604943"}, {"-gpgpu_sm89_deadlock_cycles", "100000"}}));
  EXPECT_EQ(report.status, RunStatus::kComplete);
  EXPECT_GT(report.kernels[0].cycles, 7604943u);
}

TEST(OccupancyTest, LimitsAndTheirNames) {
  const SmConfig sm = TestConfig().gpu.sm;
  KernelInfo kernel;
  kernel.file = "kernel-1.traceg";
  kernel.block = {256, 1, 1};
  kernel.nregs = 32;
  auto occupancy = ComputeOccupancy(kernel, sm);
  ASSERT_TRUE(occupancy.ok());
  EXPECT_EQ(occupancy->ctas_per_sm, 6u);
  EXPECT_EQ(occupancy->limiter, "warps");
  kernel.nregs = 128;  // 4096 a warp: 4 warps a sub-core, 16 in all
  EXPECT_EQ(ComputeOccupancy(kernel, sm)->ctas_per_sm, 2u);
  EXPECT_EQ(ComputeOccupancy(kernel, sm)->limiter, "registers");
  kernel.nregs = 32;
  kernel.shmem_bytes = 48 * 1024;  // 49 KiB with the reserved one
  EXPECT_EQ(ComputeOccupancy(kernel, sm)->ctas_per_sm, 2u);
  EXPECT_EQ(ComputeOccupancy(kernel, sm)->limiter, "shared memory");
  EXPECT_EQ(ComputeOccupancy(kernel, sm)->needs.carveout_kib, 100u);
  kernel.shmem_bytes = 0;
  kernel.block = {32, 1, 1};
  EXPECT_EQ(ComputeOccupancy(kernel, sm)->ctas_per_sm, 24u);
  EXPECT_EQ(ComputeOccupancy(kernel, sm)->limiter, "CTAs");
}

TEST(OccupancyTest, ImpossibleCtasAreRefusedWithNeedAndLimit) {
  const SmConfig sm = TestConfig().gpu.sm;
  KernelInfo kernel;
  kernel.file = "kernel-1.traceg";
  kernel.block = {32, 1, 1};
  kernel.shmem_bytes = 131072;
  const absl::Status status = ComputeOccupancy(kernel, sm).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("131072"), absl::string_view::npos);
  EXPECT_NE(status.message().find("101376"), absl::string_view::npos);
  kernel.shmem_bytes = 0;
  kernel.nregs = 255;
  kernel.block = {1024, 1, 1};
  EXPECT_FALSE(ComputeOccupancy(kernel, sm).ok());
}

TEST(LaunchQueueTest, CopiesSeparateWhatComesBeforeAndAfter) {
  std::vector<KernelInfo> kernels(3);
  kernels[1].stream_id = 5;
  std::vector<TraceCommand> commands(4);
  commands[0].kind = CommandKind::kKernel;
  commands[1].kind = CommandKind::kKernel;
  commands[1].kernel = 1;
  commands[2].kind = CommandKind::kMemcpyHtoD;
  commands[3].kind = CommandKind::kKernel;
  commands[3].kernel = 2;
  LaunchQueue queue(commands, kernels, {true, true, true});
  EXPECT_EQ(queue.Next(), &commands[0]);
  EXPECT_EQ(queue.Next(), &commands[1]);
  EXPECT_EQ(queue.Next(), nullptr);
  queue.Finished(0);
  EXPECT_EQ(queue.Next(), nullptr) << "the copy waits for both kernels";
  queue.Finished(1);
  EXPECT_EQ(queue.Next(), &commands[2]);
  EXPECT_EQ(queue.Next(), &commands[3]);
  EXPECT_FALSE(queue.done());
  queue.Finished(2);
  EXPECT_TRUE(queue.done());
}

}  // namespace
}  // namespace sm89
