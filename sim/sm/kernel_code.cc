#include "sim/sm/kernel_code.h"

#include <algorithm>
#include <limits>
#include <span>

#include "sim/base/assert.h"
#include "sim/isa/tensor_modes.h"
#include "sim/tensor/tensor_timing.h"

namespace sm89 {
namespace {

// A kernel's code lies within 4 GiB: program counters have 32 bits.
constexpr uint32_t kCodeSpanLog2 = 32;

// The registry's row of a tensor instruction. Decoding lets no other pass.
const TensorMode& ModeOf(const DecodedInst& inst) {
  const TensorMode* mode = FindTensorMode(inst.tensor);
  SM89_ASSERT(mode != nullptr, "a tensor instruction without a row in the registry");
  return *mode;
}

uint64_t SmStats::*InstructionCounter(const DecodedInst& inst) {
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

Pipe PipeOf(ExecUnit unit, const ExecConfig& exec) {
  switch (unit) {
    case ExecUnit::kFp32:
      return Pipe::kEither;
    case ExecUnit::kInt:
      return exec.integer_shares_fp32 ? Pipe::kLite : Pipe::kAlu;
    case ExecUnit::kImad:
      return Pipe::kFma;
    case ExecUnit::kHalf:
      return Pipe::kHalf;
    case ExecUnit::kFp64:
      return Pipe::kFp64;
    case ExecUnit::kSfu:
      return Pipe::kSfu;
    case ExecUnit::kTensor:
      return Pipe::kTensor;
    case ExecUnit::kUniform:
      return Pipe::kUniform;
    case ExecUnit::kBranch:
      return Pipe::kBranch;
    case ExecUnit::kTexture:
      return Pipe::kTexture;
    case ExecUnit::kMisc:
    case ExecUnit::kBarrier:
      return Pipe::kMisc;
    case ExecUnit::kMem:
      break;
  }
  return Pipe::kNone;
}

IssuePath PathOf(const DecodedInst& in) {
  if (in.unit == ExecUnit::kMem) {
    const bool queued = in.space != MemSpace::kConstant && in.mem_op != MemOp::kCacheControl;
    return queued ? IssuePath::kMemory : IssuePath::kVariable;
  }
  if (in.control != ControlOp::kNone) return IssuePath::kNone;
  switch (in.dep) {
    case DepClass::kDecoupled:
    case DepClass::kAddress:
      return IssuePath::kVariable;
    default:
      break;
  }
  // A counter announces what the machine code does not time by stall counts (the FP64 of a GeForce).
  return in.bits.write_counter != kNoDependenceCounter ? IssuePath::kVariable : IssuePath::kFixed;
}

bool IsLongLatency(const DecodedInst& in) {
  if (in.unit == ExecUnit::kTexture || in.mem_op == MemOp::kLoadToShared) return true;
  if (in.control == ControlOp::kLdgDepbar) return true;
  return in.unit == ExecUnit::kMem &&
         (in.space == MemSpace::kGlobal || in.space == MemSpace::kLocal || in.space == MemSpace::kGeneric);
}

// Tensor operands of four registers take their ports twice as long.
uint8_t ReadWindow(const DecodedInst& in, const RegisterFileConfig& config) {
  const bool wide =
      std::any_of(in.slots.begin(), in.slots.end(), [](const RegRange& slot) { return slot.count > 2; });
  return static_cast<uint8_t>(config.read_window_cycles * (wide ? 2 : 1));
}

SmInst Build(const DecodedInst& in, const GpuConfig& config) {
  SmInst out;
  const UnitTiming timing = TimingOf(in, config);
  out.pc = in.pc;
  out.latency_cycles = Narrow(timing.latency_cycles);
  out.interval_cycles = Narrow(timing.interval_cycles);
  out.unit = in.unit == ExecUnit::kTensor ? StrategyOf(ModeOf(in)).unit() : in.unit;
  out.pipe = in.timing == TimingClass::kConvert || in.timing == TimingClass::kIntegerSfu
                 ? Pipe::kSfu
                 : PipeOf(out.unit, config.exec);
  out.path = PathOf(in);
  out.space = in.space;
  out.mem_op = in.mem_op;
  out.control = in.control;
  out.scope = in.scope;
  out.bits = in.bits;
  out.width_bytes = in.width_bytes;
  out.matrices = in.matrices;
  if (in.mem_op == MemOp::kLoadMatrix && in.matrices > 0 && in.matrices < 4) {
    out.address_lanes = (LaneMask{1} << (8 * in.matrices)) - 1;
  }
  out.issue_cycles =
      in.dep == DepClass::kImadWide ? static_cast<uint8_t>(config.exec.imad_wide_issue_cycles) : 1;
  const bool is_volatile = in.scope == Scope::kSys && in.mem_op == MemOp::kLoad;
  out.bypass_l1 = in.bypass_l1 || (is_volatile && !config.l1.volatile_hits);
  out.reconverges = in.rule == IssueRule::kReconverge;
  out.arrives_only = in.arrives_only;
  out.long_latency = IsLongLatency(in);
  out.reads_clock = in.reads_clock;
  out.uniform_address = in.uniform_address;
  out.register_lane = in.mem_op == MemOp::kShuffle && in.slots[1].count != 0;
  out.depbar_counter = in.depbar_counter;
  out.depbar_mask = in.depbar_mask;
  if (in.control == ControlOp::kBarrier && in.immediate > 0) out.barrier = static_cast<uint8_t>(in.immediate);
  out.barrier_warps = static_cast<uint16_t>(in.barrier_threads / kWarpSize);
  out.constant_bank = in.constant_bank;
  out.constant_offset = in.constant_offset;
  out.read_window_cycles = ReadWindow(in, config.registers);
  if (out.path == IssuePath::kFixed) out.slots = in.slots;
  for (const RegRange& dest : std::span(in.dests).first(in.num_dests)) {
    if (dest.file == RegFile::kGeneral && out.result.count == 0) out.result = dest;
  }
  out.immediate = in.immediate;
  out.tensor_ops = uint64_t{2} * in.tensor.m * in.tensor.n * in.tensor.k;
  out.counter = InstructionCounter(in);
  return out;
}

}  // namespace

UnitTiming TimingOf(const DecodedInst& inst, const GpuConfig& config) {
  const ExecConfig& exec = config.exec;
  switch (inst.timing) {
    case TimingClass::kConvert:
      return exec.convert;
    case TimingClass::kIntegerSfu:
      return exec.integer_sfu;
    case TimingClass::kSpecialRegister:
      return exec.special_register;
    case TimingClass::kVote:
      return exec.vote;
    case TimingClass::kUnit:
      break;
  }
  if (inst.space == MemSpace::kConstant && inst.unit == ExecUnit::kMem) {
    const bool immediate = inst.constant_bank != DecodedInst::kNoConstant;
    return {immediate ? config.constant.ldc_immediate_cycles : config.constant.ldc_register_cycles, 1};
  }
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
    case ExecUnit::kTensor:
      return StrategyOf(ModeOf(inst)).Timing(ModeOf(inst), exec);
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

KernelCode BuildKernelCode(const DecodedKernel& kernel, const KernelInfo& info, const GpuConfig& config,
                           uint32_t number) {
  KernelCode code;
  code.code_base = uint64_t{number} << kCodeSpanLog2;
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
