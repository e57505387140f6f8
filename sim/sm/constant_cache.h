// Constant operands: an L0 in each sub-core, looked up when a fixed-latency instruction wants to issue, and
// an L1 of the SM behind it, which LDC uses too. Source: "Analyzing Modern NVIDIA GPU Cores" (MICRO 2025).
#pragma once

#include <cstdint>

#include "sim/base/types.h"
#include "sim/config/gpu_config.h"
#include "sim/sm/lru_tags.h"
#include "sim/stats/sim_stats.h"

namespace sm89 {

class ConstantL1 {
 public:
  explicit ConstantL1(const ConstantConfig& config);
  // Extra cycles of a look-up at `now`: 0 on a hit.
  Cycle Delay(uint64_t line, Cycle now, SmStats* stats);
  void Clear() { tags_.Clear(); }

 private:
  ConstantConfig config_;
  LruTags tags_;
};

class ConstantL0 {
 public:
  ConstantL0(const ConstantConfig& config, ConstantL1* l1);
  // Number of the line that holds byte `offset` of bank `bank` of a kernel.
  uint64_t LineOf(uint64_t code_base, uint32_t bank, uint32_t offset) const {
    return (code_base << 5) + uint64_t{bank} * kBankLines + offset / config_.line_bytes;
  }
  // The cycle from which the operand can be read: `now` on a hit.
  Cycle Ready(uint64_t line, Cycle now, SmStats* stats);
  void Clear() { tags_.Clear(); }

 private:
  static constexpr uint64_t kBankLines = 1 << 16;  // 64 KiB and more in lines of any size

  ConstantConfig config_;
  ConstantL1* l1_;
  LruTags tags_;
};

}  // namespace sm89
