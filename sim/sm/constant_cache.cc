#include "sim/sm/constant_cache.h"

#include <algorithm>

namespace sm89 {

ConstantL1::ConstantL1(const ConstantConfig& config)
    : config_(config), tags_(LruTags::OfSize(config.l1_bytes, config.l1_ways, config.line_bytes)) {}

Cycle ConstantL1::Delay(uint64_t line, Cycle now, SmStats* stats) {
  if (const Cycle* ready = tags_.Find(line)) return *ready > now ? *ready - now : 0;
  ++stats->constant_l1_misses;
  const Cycle delay = config_.l1_miss_cycles - std::min(config_.l1_miss_cycles, config_.l0_miss_cycles);
  tags_.Insert(line, now + delay);
  return delay;
}

ConstantL0::ConstantL0(const ConstantConfig& config, ConstantL1* l1)
    : config_(config), l1_(l1), tags_(LruTags::OfSize(config.l0_bytes, config.l0_ways, config.line_bytes)) {}

Cycle ConstantL0::Ready(uint64_t line, Cycle now, SmStats* stats) {
  if (config_.perfect_l0) return now;
  if (const Cycle* ready = tags_.Find(line)) return std::max(now, *ready);
  ++stats->constant_l0_misses;
  const Cycle ready = now + config_.l0_miss_cycles + l1_->Delay(line, now, stats);
  tags_.Insert(line, ready);
  return ready;
}

}  // namespace sm89
