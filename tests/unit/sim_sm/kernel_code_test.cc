// What an SM makes of decoded instructions: pipes, paths, tensor intervals and latencies.
#include "sim/sm/kernel_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "sim/config/config.h"
#include "sim/isa/tensor_modes.h"
#include "sim/tensor/tensor_timing.h"

namespace sm89 {
namespace {

SmInst Built(const DecodedInst& inst, const GpuConfig& config = {}) {
  DecodedKernel kernel;
  kernel.insts = {inst};
  return BuildKernelCode(kernel, KernelInfo{}, config).insts.at(0);
}

DecodedInst On(ExecUnit unit, DepClass dep = DepClass::kAlu) {
  DecodedInst inst;
  inst.unit = unit;
  inst.dep = dep;
  return inst;
}

TEST(KernelCode, UnitsMapToPipes) {
  EXPECT_EQ(Built(On(ExecUnit::kFp32)).pipe, Pipe::kEither);
  EXPECT_EQ(Built(On(ExecUnit::kInt)).pipe, Pipe::kLite) << "Ampere and Ada";
  GpuConfig hopper;
  hopper.exec.integer_shares_fp32 = false;
  EXPECT_EQ(Built(On(ExecUnit::kInt), hopper).pipe, Pipe::kAlu);
  EXPECT_EQ(Built(On(ExecUnit::kImad)).pipe, Pipe::kFma);
  EXPECT_EQ(Built(On(ExecUnit::kMem)).pipe, Pipe::kNone);
  DecodedInst convert = On(ExecUnit::kMisc, DepClass::kDecoupled);
  convert.timing = TimingClass::kConvert;
  EXPECT_EQ(Built(convert).pipe, Pipe::kSfu) << "conversions go through the special function unit";
}

TEST(KernelCode, HowAnInstructionLeavesTheIssueStage) {
  EXPECT_EQ(Built(On(ExecUnit::kFp32)).path, IssuePath::kFixed);
  EXPECT_EQ(Built(On(ExecUnit::kSfu, DepClass::kDecoupled)).path, IssuePath::kVariable);
  DecodedInst fp64 = On(ExecUnit::kFp64, DepClass::kFp64);
  EXPECT_EQ(Built(fp64).path, IssuePath::kFixed);
  fp64.bits.write_counter = 0;
  EXPECT_EQ(Built(fp64).path, IssuePath::kVariable) << "timed by a counter";
  DecodedInst load = On(ExecUnit::kMem, DepClass::kAddress);
  load.mem_op = MemOp::kLoad;
  load.space = MemSpace::kGlobal;
  EXPECT_EQ(Built(load).path, IssuePath::kMemory);
  EXPECT_TRUE(Built(load).long_latency);
  load.space = MemSpace::kShared;
  EXPECT_FALSE(Built(load).long_latency);
  load.space = MemSpace::kConstant;
  EXPECT_EQ(Built(load).path, IssuePath::kVariable);
  DecodedInst bar = On(ExecUnit::kBarrier);
  bar.control = ControlOp::kBarrier;
  bar.barrier_threads = 96;
  bar.immediate = 5;
  EXPECT_EQ(Built(bar).path, IssuePath::kNone);
  EXPECT_EQ(Built(bar).barrier, 5);
  EXPECT_EQ(Built(bar).barrier_warps, 3);
}

TEST(KernelCode, VolatileLoadsGoWhereTheSettingSays) {
  DecodedInst load = On(ExecUnit::kMem, DepClass::kAddress);
  load.mem_op = MemOp::kLoad;
  load.space = MemSpace::kGlobal;
  EXPECT_FALSE(Built(load).bypass_l1);
  load.scope = Scope::kSys;
  EXPECT_TRUE(Built(load).bypass_l1) << "an RTX 4090's come from the L2";
  GpuConfig hopper;
  hopper.l1.volatile_hits = true;
  EXPECT_FALSE(Built(load, hopper).bypass_l1);
}

TEST(KernelCode, ImadWideHoldsTheIssuePort) {
  EXPECT_EQ(Built(On(ExecUnit::kImad, DepClass::kFma)).issue_cycles, 1);
  EXPECT_EQ(Built(On(ExecUnit::kImad, DepClass::kImadWide)).issue_cycles, 2);
}

TEST(KernelCode, OperandsOfFourRegistersAreReadInTwiceTheTime) {
  DecodedInst hmma = On(ExecUnit::kTensor, DepClass::kMmaLong);
  hmma.tensor = {16, 8, 16, TensorType::kF16, TensorType::kF16, false, false};
  hmma.slots = {RegRange{RegFile::kGeneral, 4, 2}, {RegFile::kGeneral, 8, 2}, {RegFile::kGeneral, 12, 2}};
  EXPECT_EQ(Built(hmma).read_window_cycles, 3);
  hmma.slots[0].count = 4;
  EXPECT_EQ(Built(hmma).read_window_cycles, 6);
}

TEST(KernelCode, OnlyFixedLatencyInstructionsUseTheOperandPorts) {
  DecodedInst mufu = On(ExecUnit::kSfu, DepClass::kDecoupled);
  mufu.slots[0] = {RegFile::kGeneral, 4, 1};
  EXPECT_EQ(Built(mufu).slots[0].count, 0);
  DecodedInst ffma = On(ExecUnit::kFp32, DepClass::kFma);
  ffma.slots[2] = {RegFile::kGeneral, 4, 1};
  EXPECT_EQ(Built(ffma).slots[2].count, 1);
}

TEST(KernelCode, MatrixLoadsTakeTheAddressesOfTheirFirstLanes) {
  DecodedInst ldsm = On(ExecUnit::kMem, DepClass::kAddress);
  ldsm.mem_op = MemOp::kLoadMatrix;
  ldsm.space = MemSpace::kShared;
  ldsm.matrices = 1;
  EXPECT_EQ(Built(ldsm).address_lanes, 0xFFu);
  ldsm.matrices = 2;
  EXPECT_EQ(Built(ldsm).address_lanes, 0xFFFFu);
  ldsm.matrices = 4;
  EXPECT_EQ(Built(ldsm).address_lanes, ~0u);
}

TEST(KernelCode, KernelsDoNotOverlapInTheInstructionCaches) {
  DecodedKernel kernel;
  kernel.insts = {On(ExecUnit::kFp32)};
  kernel.insts[0].pc = 0xFFFFFFF0;
  const KernelCode first = BuildKernelCode(kernel, KernelInfo{}, GpuConfig{}, 0);
  const KernelCode second = BuildKernelCode(kernel, KernelInfo{}, GpuConfig{}, 1);
  EXPECT_LT(first.code_base + first.insts[0].pc, second.code_base);
}

struct Shape {
  uint16_t m, n, k;
  TensorType type;
  bool fp32, sparse;
  uint32_t interval;
};

// Intervals of one sub-core: multiply-adds over the peak rate of the type (RTX 4090 whitepaper: 128 dense
// FP16 a cycle, FP32 accumulation at half of it, TF32 at a half, 8 bits at twice, 4 bits at four times, 1 bit
// at sixteen times the rate of FP16; 2:4 sparsity twice).
constexpr Shape kShapes[] = {
    {16, 8, 16, TensorType::kF16, false, false, 16}, {16, 8, 8, TensorType::kF16, false, false, 8},
    {16, 8, 16, TensorType::kF16, true, false, 32},  {16, 8, 8, TensorType::kF16, true, false, 16},
    {16, 8, 16, TensorType::kBf16, true, false, 32}, {16, 8, 8, TensorType::kBf16, true, false, 16},
    {16, 8, 8, TensorType::kTf32, true, false, 32},  {16, 8, 4, TensorType::kTf32, true, false, 16},
    {16, 8, 32, TensorType::kS8, false, false, 16},  {16, 8, 16, TensorType::kS8, false, false, 8},
    {8, 8, 16, TensorType::kU8, false, false, 4},    {16, 8, 64, TensorType::kS4, false, false, 16},
    {16, 8, 32, TensorType::kU4, false, false, 8},   {8, 8, 32, TensorType::kS4, false, false, 4},
    {16, 8, 256, TensorType::kB1, false, false, 16}, {8, 8, 128, TensorType::kB1, false, false, 4},
    {16, 8, 32, TensorType::kE4m3, true, false, 32}, {16, 8, 32, TensorType::kE5m2, false, false, 16},
    {16, 8, 32, TensorType::kF16, false, true, 16},  {16, 8, 32, TensorType::kF16, true, true, 32},
    {16, 8, 16, TensorType::kTf32, true, true, 32},  {16, 8, 64, TensorType::kS8, false, true, 16},
};

TEST(Tensor, IntervalsOfEveryShape) {
  for (const Shape& s : kShapes) {
    const TensorMode* mode = FindTensorMode({s.m, s.n, s.k, s.type, s.type, s.fp32, s.sparse});
    ASSERT_NE(mode, nullptr);
    EXPECT_EQ(StrategyOf(*mode).Timing(*mode, ExecConfig{}).interval_cycles, s.interval)
        << "m" << s.m << "n" << s.n << "k" << s.k << " type " << static_cast<int>(s.type) << " fp32 "
        << s.fp32 << " sparse " << s.sparse;
  }
}

TEST(Tensor, LatencyIsThatOfTheShapeClassOrWhatTheIntervalAsksFor) {
  GpuConfig config;
  config.exec.tensor.latency_cycles = 24;
  config.exec.tensor_short_latency_cycles = 17;
  DecodedInst hmma = On(ExecUnit::kTensor, DepClass::kMmaLong);
  hmma.tensor = {16, 8, 16, TensorType::kF16, TensorType::kF16, false, false};
  EXPECT_EQ(Built(hmma, config).latency_cycles, 24);
  EXPECT_EQ(Built(hmma, config).interval_cycles, 16);
  hmma.tensor.fp32_accumulate = true;
  EXPECT_EQ(Built(hmma, config).latency_cycles, 33);
  hmma.dep = DepClass::kMmaShort;
  hmma.tensor = {16, 8, 8, TensorType::kF16, TensorType::kF16, false, false};
  EXPECT_EQ(Built(hmma, config).latency_cycles, 17);
}

struct Peak {
  TensorType type;
  bool fp32;
  double dense, sparse;  // 10^12 operations/s; 0: no such instruction
};
// NVIDIA Ada whitepaper, appendix A.
constexpr Peak kRtx4090[] = {
    {TensorType::kE4m3, false, 660.6, 0},    {TensorType::kE4m3, true, 330.3, 660.6},
    {TensorType::kF16, false, 330.3, 660.6}, {TensorType::kF16, true, 165.2, 330.4},
    {TensorType::kBf16, true, 165.2, 330.4}, {TensorType::kTf32, true, 82.6, 165.2},
    {TensorType::kS8, false, 660.6, 1321.2}, {TensorType::kS4, false, 1321.2, 2642.4},
};
// NVIDIA L40 data sheet.
constexpr Peak kL40[] = {
    {TensorType::kE4m3, true, 362, 724},      {TensorType::kF16, true, 181.05, 362.1},
    {TensorType::kBf16, true, 181.05, 362.1}, {TensorType::kTf32, true, 90.5, 181},
    {TensorType::kS8, false, 362, 724},       {TensorType::kS4, false, 724, 1448},
};
// NVIDIA L4 data sheet, which has the sparse column only.
constexpr Peak kL4[] = {{TensorType::kF16, true, 121, 242},
                        {TensorType::kTf32, true, 60, 120},
                        {TensorType::kS8, false, 242.5, 485}};

void ExpectPeaks(const char* preset, std::span<const Peak> peaks) {
  const auto config = LoadConfig(preset, {}, {});
  ASSERT_TRUE(config.ok()) << config.status();
  for (const Peak& peak : peaks) {
    double best[2] = {0, 0};
    for (const TensorMode& mode : TensorModes()) {
      const TensorOp op = OpOf(mode);
      if (mode.types[0] != peak.type || op.fp32_accumulate != peak.fp32) continue;
      const double rate =
          2e-9 * MacsPerCycle(mode, config->gpu) * config->gpu.sm.num_sms * config->gpu.clocks.core_khz;
      best[mode.sparse ? 1 : 0] = std::max(best[mode.sparse ? 1 : 0], rate);
    }
    EXPECT_NEAR(best[0], peak.dense, 0.01 * peak.dense) << preset << static_cast<int>(peak.type);
    EXPECT_NEAR(best[1], peak.sparse, 0.01 * peak.sparse) << preset << static_cast<int>(peak.type);
  }
}

TEST(Tensor, PeaksAreThoseOfTheVendor) {
  ExpectPeaks("RTX4090", kRtx4090);
  ExpectPeaks("L40", kL40);
  ExpectPeaks("L4", kL4);
}

// The H200 presets' two figures give what mthr_* measured: 6.1 and 4.1 cycles.
TEST(Tensor, IntervalsOfTheH200) {
  const auto config = LoadConfig("H200", {}, {});
  ASSERT_TRUE(config.ok()) << config.status();
  for (const TensorMode& mode : TensorModes()) {
    if (mode.sparse || mode.unit != TensorUnit::kTensorCore || mode.fp8()) continue;
    if (mode.types[0] == TensorType::kS4) continue;
    EXPECT_EQ(StrategyOf(mode).Timing(mode, config->gpu.exec).interval_cycles,
              IsHalfSize(OpOf(mode)) ? 4u : 6u)
        << mode.mnemonic << " k " << mode.k;
  }
}

TEST(Tensor, ASwitchNamesWhatItTurnsOff) {
  ExecConfig exec;
  for (const TensorMode& mode : TensorModes()) EXPECT_EQ(DisablingSetting(mode, exec), "");
  exec.tensor_fp8_enabled = false;
  for (const TensorMode& mode : TensorModes()) {
    const bool fp8 = mode.mnemonic.starts_with("QMMA");
    EXPECT_EQ(DisablingSetting(mode, exec), fp8 ? "-gpgpu_sm89_tc_fp8_enabled" : "") << mode.inputs;
  }
  exec.tensor_fp8_enabled = true;
  exec.tensor_sparse_enabled = false;
  for (const TensorMode& mode : TensorModes()) {
    EXPECT_EQ(DisablingSetting(mode, exec), mode.sparse ? "-gpgpu_sm89_tc_sparse_enabled" : "")
        << mode.inputs;
  }
}

TEST(Tensor, Fp64OccupiesTheUnitThatTheSmShares) {
  DecodedInst dmma = On(ExecUnit::kTensor, DepClass::kDmma);
  dmma.tensor = {8, 8, 4, TensorType::kF64, TensorType::kF64, false, false};
  EXPECT_EQ(Built(dmma).pipe, Pipe::kFp64);
  EXPECT_EQ(Built(dmma).interval_cycles, 8 * 8 * 4 / 32 * 16);
}

}  // namespace
}  // namespace sm89
