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

// All register files of a thread in one index space: R0..R254, UR, P, UP behind one another.
inline constexpr uint32_t kUniformBase = 256;
inline constexpr uint32_t kPredicateBase = kUniformBase + 64;
inline constexpr uint32_t kUniformPredicateBase = kPredicateBase + 8;
inline constexpr uint32_t kNumRegisterSlots = kUniformPredicateBase + 8;

// `count` registers from `first` in that space.
struct SlotRange {
  uint16_t first = 0;
  uint16_t count = 0;
};

struct SmInst {
  uint32_t pc = 0;
  uint16_t latency_cycles = 0;   // issue to dependent issue, fixed-latency units
  uint16_t interval_cycles = 0;  // the unit is busy for so long
  ExecUnit unit = ExecUnit::kMisc;
  MemSpace space = MemSpace::kNone;
  MemOp mem_op = MemOp::kNone;
  ControlOp control = ControlOp::kNone;
  Scope scope = Scope::kNone;
  uint8_t width_bytes = 0;
  LaneMask address_lanes = ~LaneMask{0};  // lanes whose addresses count (LDSM.x1: the first 8)
  bool bypass_l1 = false;
  bool writes_predicate = false;
  bool arrives_only = false;      // BAR.ARV: counts at the barrier, does not wait
  bool variable_latency = false;  // consumers see a short-scoreboard wait
  bool reads_clock = false;
  uint8_t num_sources = 0;
  uint8_t num_dests = 0;
  std::array<SlotRange, kMaxSources> sources{};
  std::array<SlotRange, kMaxDests> dests{};
  uint16_t guess = 0;  // 1-based place in KernelCode::guessed; 0 = not guessed
  int64_t immediate = 0;
  uint64_t tensor_ops = 0;  // multiply-adds x 2 of one warp instruction, dense-equivalent
  uint64_t SmStats::*counter = nullptr;
};

struct KernelCode {
  std::vector<SmInst> insts;      // parallel to the static table
  std::vector<uint32_t> guessed;  // static ids of mapped or unknown opcodes (at most 65,535 are told apart)
  uint64_t shmem_base = 0;
  uint64_t local_base = 0;
};

// Latency and interval of an instruction in an execution unit. Sources: configuration table.
UnitTiming TimingOf(const DecodedInst& inst, const GpuConfig& config);

// Interval of a tensor instruction: MACs / rate of its type; the rate halves with FP32 accumulation of
// 16-, 8-bit and TF32 floats on GeForce (measured, rtx4090-facts.md) and doubles with 2:4 sparsity.
uint32_t TensorIntervalCycles(const TensorOp& op, const ExecConfig& config);

KernelCode BuildKernelCode(const DecodedKernel& kernel, const KernelInfo& info, const GpuConfig& config);

}  // namespace sm89
