// Register file of one sub-core: banks with read ports, the reuse cache, write-back slots. Reservations in
// integer cycles; the scheduler does not look at them, the Allocate stage does.
//
// Source of the organisation: "Analyzing Modern NVIDIA GPU Cores" (MICRO 2025), sections on the register file
// and its cache; the RTX 4090's 2.03 cycles for an FFMA on three distinct registers agrees.
#pragma once

#include <array>
#include <cstdint>

#include "sim/base/types.h"
#include "sim/config/gpu_config.h"
#include "sim/sm/kernel_code.h"
#include "sim/stats/sim_stats.h"

namespace sm89 {

class RegisterFile {
 public:
  explicit RegisterFile(const RegisterFileConfig& config) : config_(config) {
    base_.fill(0);
    for (auto& slot : reuse_) slot.fill(kEmpty);
  }

  // Operands of a fixed-latency instruction that issues at `now` (now never decreases). Returns the first
  // cycle at which the next instruction may issue: now + 1, later while Allocate holds this one.
  Cycle Read(uint32_t warp, const SmInst& inst, Cycle now, SmStats* stats);
  // A fixed-latency result is written at `cycle`.
  void Write(const RegRange& result, Cycle cycle);
  // A variable-latency result arrives at `cycle`: it gives way to a fixed-latency one in its bank. Returns
  // the cycle at which it is written.
  Cycle WriteBack(const RegRange& result, Cycle cycle) const;
  // A warp ends: what the reuse cache holds of it is void.
  void Forget(uint32_t warp);

 private:
  static constexpr uint32_t kMaxBanks = 4;
  static constexpr uint32_t kMaxPorts = 8;
  static constexpr uint32_t kEmpty = ~0u;
  static constexpr Cycle kIssueToAllocate = 2;  // Control in between

  static uint32_t Tag(uint32_t warp, uint32_t reg) { return warp << 8 | reg; }
  // Bit i = cycle base + i.
  static void MoveTo(Cycle cycle, Cycle* base, uint64_t* bits) {
    if (cycle <= *base) return;
    const Cycle by = cycle - *base;
    *bits = by < 64 ? *bits >> by : 0;
    *base = cycle;
  }
  // Reads of each bank that the reuse cache does not serve.
  std::array<uint32_t, kMaxBanks> PortReads(uint32_t warp, const SmInst& inst, SmStats* stats);
  bool Fits(uint32_t bank, uint32_t reads, Cycle first, uint32_t window) const;
  void Take(uint32_t bank, uint32_t reads, Cycle first);

  RegisterFileConfig config_;
  std::array<std::array<uint32_t, kMaxBanks>, 3> reuse_;  // by operand slot and bank
  std::array<Cycle, kMaxBanks> base_;
  std::array<std::array<uint64_t, kMaxPorts>, kMaxBanks> reads_{};  // one word a port
  Cycle write_base_ = 0;
  std::array<uint64_t, kMaxBanks> writes_{};
};

}  // namespace sm89
