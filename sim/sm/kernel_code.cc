#include "sim/sm/kernel_code.h"

#include <algorithm>
#include <limits>

namespace sm89 {
namespace {

// Rate of a tensor type as a fraction of dense FP16, in eighths (whitepaper peak table of the RTX 4090).
uint32_t RateEighths(TensorType type) {
  switch (type) {
    case TensorType::kF16:
    case TensorType::kBf16:
      return 8;
    case TensorType::kTf32:
      return 4;
    case TensorType::kE4m3:
    case TensorType::kE5m2:
    case TensorType::kS8:
    case TensorType::kU8:
      return 16;
    case TensorType::kS4:
    case TensorType::kU4:
      return 32;
    case TensorType::kB1:
      return 128;
    case TensorType::kF64:
    case TensorType::kNone:
      break;
  }
  return 8;
}

bool IsFloat(TensorType type) {
  switch (type) {
    case TensorType::kF16:
    case TensorType::kBf16:
    case TensorType::kTf32:
    case TensorType::kE4m3:
    case TensorType::kE5m2:
      return true;
    default:
      return false;
  }
}

SlotRange ToSlots(const RegRange& range) {
  uint32_t base = 0;
  uint32_t constant = 255;  // RZ; nothing depends on it
  switch (range.file) {
    case RegFile::kGeneral:
      break;
    case RegFile::kUniform:
      base = kUniformBase;
      constant = 63;
      break;
    case RegFile::kPredicate:
      base = kPredicateBase;
      constant = 7;
      break;
    case RegFile::kUniformPredicate:
      base = kUniformPredicateBase;
      constant = 7;
      break;
  }
  if (range.first >= constant) return {};
  const uint32_t count = std::min<uint32_t>(range.count, constant - range.first);
  return {static_cast<uint16_t>(base + range.first), static_cast<uint16_t>(count)};
}

uint64_t SmStats::*CounterOf(const DecodedInst& inst) {
  switch (inst.unit) {
    case ExecUnit::kFp32:
      return &SmStats::inst_fp32;
    case ExecUnit::kInt:
    case ExecUnit::kImad:
      return &SmStats::inst_int;
    case ExecUnit::kHalf:
      return &SmStats::inst_half;
    case ExecUnit::kFp64:
      return &SmStats::inst_fp64;
    case ExecUnit::kSfu:
      return &SmStats::inst_sfu;
    case ExecUnit::kTensor:
      return &SmStats::inst_tensor;
    case ExecUnit::kUniform:
      return &SmStats::inst_uniform;
    case ExecUnit::kBranch:
      return &SmStats::inst_branch;
    case ExecUnit::kMisc:
      return &SmStats::inst_misc;
    case ExecUnit::kTexture:
      return &SmStats::inst_texture;
    case ExecUnit::kBarrier:
      return &SmStats::inst_barrier;
    case ExecUnit::kMem:
      break;
  }
  switch (inst.space) {
    case MemSpace::kGlobal:
    case MemSpace::kGeneric:
      return &SmStats::inst_mem_global;
    case MemSpace::kLocal:
      return &SmStats::inst_mem_local;
    case MemSpace::kShared:
      return &SmStats::inst_mem_shared;
    case MemSpace::kConstant:
      return &SmStats::inst_mem_constant;
    case MemSpace::kNone:
    case MemSpace::kTexture:
      break;
  }
  return &SmStats::inst_mem_other;
}

uint16_t Narrow(uint32_t cycles) {
  return static_cast<uint16_t>(std::min<uint32_t>(cycles, std::numeric_limits<uint16_t>::max()));
}

SmInst Build(const DecodedInst& in, const GpuConfig& config) {
  SmInst out;
  const UnitTiming timing = TimingOf(in, config);
  out.pc = in.pc;
  out.latency_cycles = Narrow(timing.latency_cycles);
  out.interval_cycles = Narrow(timing.interval_cycles);
  // A GeForce has no FP64 tensor core: DMMA occupies the FP64 unit that the whole SM shares.
  const bool fp64_tensor = in.unit == ExecUnit::kTensor && in.tensor.a == TensorType::kF64;
  out.unit = fp64_tensor ? ExecUnit::kFp64 : in.unit;
  out.space = in.space;
  out.mem_op = in.mem_op;
  out.control = in.control;
  out.scope = in.scope;
  out.width_bytes = in.width_bytes;
  if (in.mem_op == MemOp::kLoadMatrix && in.matrices > 0 && in.matrices < 4) {
    out.address_lanes = (LaneMask{1} << (8 * in.matrices)) - 1;
  }
  out.bypass_l1 = in.bypass_l1;
  out.writes_predicate = in.writes_predicate;
  out.arrives_only = in.arrives_only;
  out.reads_clock = in.reads_clock;
  out.variable_latency =
      in.unit == ExecUnit::kSfu || in.unit == ExecUnit::kMisc || in.unit == ExecUnit::kFp64;
  for (int i = 0; i < in.num_sources; ++i) {
    const SlotRange range = ToSlots(in.sources[static_cast<size_t>(i)]);
    if (range.count != 0 && out.num_sources < out.sources.size()) out.sources[out.num_sources++] = range;
  }
  for (int i = 0; i < in.num_dests; ++i) {
    const SlotRange range = ToSlots(in.dests[static_cast<size_t>(i)]);
    if (range.count != 0 && out.num_dests < out.dests.size()) out.dests[out.num_dests++] = range;
  }
  out.immediate = in.immediate;
  out.tensor_ops = uint64_t{2} * in.tensor.m * in.tensor.n * in.tensor.k;
  out.counter = CounterOf(in);
  return out;
}

}  // namespace

uint32_t TensorIntervalCycles(const TensorOp& op, const ExecConfig& config) {
  const uint64_t macs = uint64_t{op.m} * op.n * op.k;
  uint64_t rate_eighths = uint64_t{config.tensor_macs_per_cycle} * RateEighths(op.a);
  if (op.fp32_accumulate && IsFloat(op.a)) {
    rate_eighths /= std::max<uint32_t>(config.tensor_fp32_accumulate_factor, 1);
  }
  if (op.sparse) rate_eighths *= 2;
  if (macs == 0 || rate_eighths == 0) return config.tensor.interval_cycles;
  return static_cast<uint32_t>(std::max<uint64_t>((macs * 8 + rate_eighths - 1) / rate_eighths, 1));
}

UnitTiming TimingOf(const DecodedInst& inst, const GpuConfig& config) {
  const ExecConfig& exec = config.exec;
  switch (inst.unit) {
    case ExecUnit::kFp32:
      return exec.fp32;
    case ExecUnit::kInt:
      return exec.integer;
    case ExecUnit::kImad:
      return exec.imad;
    case ExecUnit::kHalf:
      return exec.half;
    case ExecUnit::kFp64:
      return exec.fp64;
    case ExecUnit::kSfu:
      return exec.sfu;
    case ExecUnit::kTensor: {
      if (inst.tensor.a == TensorType::kF64) {
        const uint64_t macs = uint64_t{inst.tensor.m} * inst.tensor.n * inst.tensor.k;
        const auto interval = static_cast<uint32_t>(macs / kWarpSize * exec.fp64.interval_cycles);
        return {exec.fp64.latency_cycles + interval, interval};
      }
      const uint32_t interval = TensorIntervalCycles(inst.tensor, exec);
      return {exec.tensor.latency_cycles + interval, interval};
    }
    case ExecUnit::kUniform:
      return exec.uniform;
    case ExecUnit::kBranch:
      return exec.branch;
    case ExecUnit::kTexture:
      return exec.texture;
    case ExecUnit::kMisc:
    case ExecUnit::kBarrier:
    case ExecUnit::kMem:
      break;
  }
  return exec.misc;
}

KernelCode BuildKernelCode(const DecodedKernel& kernel, const KernelInfo& info, const GpuConfig& config) {
  KernelCode code;
  code.shmem_base = info.shmem_base;
  code.local_base = info.local_base;
  code.insts.reserve(kernel.insts.size());
  for (const DecodedInst& inst : kernel.insts) {
    code.insts.push_back(Build(inst, config));
    if (!inst.guessed || code.guessed.size() == std::numeric_limits<uint16_t>::max()) continue;
    code.guessed.push_back(static_cast<uint32_t>(code.insts.size() - 1));
    code.insts.back().guess = static_cast<uint16_t>(code.guessed.size());
  }
  return code;
}

}  // namespace sm89
