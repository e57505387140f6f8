// A kernel's static instructions as an SM executes them: decoded once, with the configuration's timing in
// place, so that the cycle loop reads one small struct.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/gpu_config.h"
#include "sim/isa/decoded_inst.h"
#include "sim/stats/sim_stats.h"

namespace sm89 {

inline constexpr uint8_t kNumDependenceCounters = 6;
inline constexpr uint8_t kNoDependenceCounter = 7;

// Execution pipes of a sub-core; kFp64 may be one for the whole SM.
enum class Pipe : uint8_t {
  kFma,     // FP32 half-pipe with the integer multiplier
  kLite,    // FP32 half-pipe without it; on Ada the integer half-pipe too
  kAlu,     // integer, where it has a pipe of its own
  kEither,  // FP32: whichever half-pipe is free
  kHalf,
  kFp64,
  kSfu,
  kTensor,
  kUniform,
  kBranch,
  kMisc,
  kTexture,
  kNone,
};
inline constexpr int kNumPipes = 13;

// How an instruction leaves the issue stage.
enum class IssuePath : uint8_t {
  kFixed,     // Allocate, register read ports, an execution pipe; result after a fixed latency
  kVariable,  // a pipe of variable latency: results announced through a dependence counter
  kMemory,    // the memory queue of the sub-core
  kNone,      // nothing beyond the issue slot (control, NOP, fully handled elsewhere)
};

// Atomics, whose lanes on one address follow each other.
constexpr bool ModifiesMemory(MemOp op) { return op == MemOp::kAtomic || op == MemOp::kReduction; }
// What memory answers with an acknowledgement instead of data.
constexpr bool IsAcknowledged(MemOp op) { return op == MemOp::kStore || op == MemOp::kReduction; }

struct SmInst {
  uint32_t pc = 0;
  uint16_t latency_cycles = 0;   // issue to dependent issue
  uint16_t interval_cycles = 0;  // the pipe is busy for so long
  uint8_t issue_cycles = 1;      // the issue port is held for so long
  ExecUnit unit = ExecUnit::kMisc;
  Pipe pipe = Pipe::kNone;
  IssuePath path = IssuePath::kNone;
  MemSpace space = MemSpace::kNone;
  MemOp mem_op = MemOp::kNone;
  ControlOp control = ControlOp::kNone;
  Scope scope = Scope::kNone;
  ControlBits bits;
  uint8_t width_bytes = 0;
  uint8_t matrices = 0;                   // LDSM
  LaneMask address_lanes = ~LaneMask{0};  // lanes whose addresses count (LDSM.x1: the first 8)
  bool bypass_l1 = false;
  bool reconverges = false;   // BSYNC
  bool arrives_only = false;  // BAR.ARV: counts at the barrier, does not wait
  bool long_latency = false;  // what waits for its counters waits for global, local or texture memory
  bool reads_clock = false;
  bool uniform_address = false;
  bool register_lane = false;  // SHFL whose lane is in a general register
  uint8_t depbar_counter = DecodedInst::kNoCounter;
  uint8_t depbar_mask = 0;
  uint8_t barrier = 0;         // number
  uint16_t barrier_warps = 0;  // that take part; 0 = the whole CTA
  uint8_t constant_bank = DecodedInst::kNoConstant;
  uint8_t read_window_cycles = 3;
  uint16_t guess = 0;               // 1-based place in KernelCode::guessed; 0 = not guessed
  uint32_t constant_offset = 0;     // bytes
  std::array<RegRange, 3> slots{};  // general registers by operand slot
  RegRange result;                  // general registers written, the first run
  int64_t immediate = 0;
  uint64_t tensor_ops = 0;  // multiply-adds x 2 of one warp instruction, dense-equivalent
  uint64_t SmStats::*counter = nullptr;
};

struct KernelCode {
  std::vector<SmInst> insts;      // parallel to the static table
  uint64_t code_base = 0;         // where the instruction caches see it: kernels do not overlap
  std::vector<uint32_t> guessed;  // static ids of mapped or unknown opcodes (at most 65,535 are told apart)
  uint64_t shmem_base = 0;
  uint64_t local_base = 0;
};

// Latency and interval of an instruction in an execution unit. Sources: configuration table.
UnitTiming TimingOf(const DecodedInst& inst, const GpuConfig& config);

// `number` tells kernels apart in the instruction caches.
KernelCode BuildKernelCode(const DecodedKernel& kernel, const KernelInfo& info, const GpuConfig& config,
                           uint32_t number = 0);

}  // namespace sm89
