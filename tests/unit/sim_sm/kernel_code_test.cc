// What an SM makes of decoded instructions: pipes, paths, tensor intervals and latencies.
#include "sim/sm/kernel_code.h"

#include <gtest/gtest.h>

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
    const TensorOp op{s.m, s.n, s.k, s.type, s.type, s.fp32, s.sparse};
    EXPECT_EQ(TensorIntervalCycles(op, ExecConfig{}), s.interval)
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

TEST(Tensor, Fp64OccupiesTheUnitThatTheSmShares) {
  DecodedInst dmma = On(ExecUnit::kTensor, DepClass::kDmma);
  dmma.tensor = {8, 8, 4, TensorType::kF64, TensorType::kF64, false, false};
  EXPECT_EQ(Built(dmma).pipe, Pipe::kFp64);
  EXPECT_EQ(Built(dmma).interval_cycles, 8 * 8 * 4 / 32 * 16);
}

}  // namespace
}  // namespace sm89
