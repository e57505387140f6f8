#include "sim/sm/instruction_cache.h"

#include <algorithm>

namespace sm89 {

InstructionL1::InstructionL1(const FrontEndConfig& config)
    : config_(config), tags_(LruTags::OfSize(config.l1_kib * 1024, config.l1_ways, kCodeLineBytes)) {}

Cycle InstructionL1::Request(uint64_t line, Cycle now, bool demand, SmStats* stats) {
  // An L0 books its prefetches ahead; the cycles in front of them are free.
  const Cycle start = port_.Take(now, 1).begin;
  if (const Cycle* ready = tags_.Find(line)) return std::max(start, *ready) + config_.l0_miss_cycles;
  ++stats->icache_l1_misses;
  // One line an interval from below; what a warp waits for passes the prefetches that are queued.
  const Cycle below = demand ? start : std::max(start, below_free_);
  below_free_ = std::max(below, below_free_) + config_.l1_fill_interval_cycles;
  const Cycle ready = below + config_.l1_miss_cycles;
  tags_.Insert(line, ready);
  return ready + config_.l0_miss_cycles;
}

InstructionL0::InstructionL0(const FrontEndConfig& config, InstructionL1* l1)
    : config_(config),
      l1_(l1),
      tags_(LruTags::OfSize(config.l0_kib * 1024, config.l0_ways, kCodeLineBytes)),
      ready_(std::max<uint32_t>(config.stream_buffer_lines, 1)) {}

void InstructionL0::Clear() {
  tags_.Clear();
  count_ = 0;
}

// Lines enter one at a time.
Cycle InstructionL0::Arrive(Cycle back) {
  const Cycle ready = std::max(back, fill_free_);
  fill_free_ = ready + config_.l0_fill_interval_cycles;
  return ready;
}

void InstructionL0::Prefetch(Cycle now, SmStats* stats) {
  while (count_ < config_.stream_buffer_lines) {
    const Cycle at = std::max(now, prefetch_free_);
    prefetch_free_ = at + 1;
    // A line that the L0 has keeps its place in the stream without a request.
    const Cycle* present = tags_.Find(head_line_ + count_);
    ready_[(head_ + count_) % ready_.size()] =
        present != nullptr ? *present : Arrive(l1_->Request(head_line_ + count_, at, false, stats));
    ++count_;
  }
}

// The stream goes on whether or not the L0 has its next line too.
Cycle InstructionL0::TakeHead(Cycle now, const Cycle* present, SmStats* stats) {
  const Cycle ready = std::max(now, present != nullptr ? *present : ready_[head_]);
  if (present == nullptr) {
    ++stats->icache_l0_misses;
    ++stats->icache_prefetch_hits;
    tags_.Insert(head_line_, ready);
  }
  head_ = (head_ + 1) % static_cast<uint32_t>(ready_.size());
  --count_;
  ++head_line_;
  Prefetch(now + 1, stats);
  return ready;
}

// A miss elsewhere: what was prefetched is dropped, and neither the line that a warp waits for nor the stream
// behind it queues up behind the dropped ones.
Cycle InstructionL0::Restart(uint64_t line, Cycle now, SmStats* stats) {
  ++stats->icache_l0_misses;
  const Cycle interval = config_.l0_fill_interval_cycles;
  const Cycle ready = demands_.Take(l1_->Request(line, now, true, stats), interval).begin;
  fill_free_ = ready + interval;
  prefetch_free_ = std::min(prefetch_free_, now + 1);
  tags_.Insert(line, ready);
  count_ = 0;
  head_line_ = line + 1;
  // A stream that begins with a line absent from L1 waits for that line first (H200: the line behind a cold
  // one comes a whole miss later).
  Prefetch(std::max(now + 1, ready - std::min<Cycle>(ready, config_.l0_miss_cycles)), stats);
  return ready;
}

Cycle InstructionL0::Fetch(uint64_t line, Cycle now, SmStats* stats) {
  if (config_.perfect_icache) return now;
  ++stats->icache_l0_accesses;
  const Cycle* const present = tags_.Find(line);
  // Lines before it that the L0 had, or that nobody asked for, are passed over.
  if (line - head_line_ < count_) {
    const auto skipped = static_cast<uint32_t>(line - head_line_);
    head_ = (head_ + skipped) % static_cast<uint32_t>(ready_.size());
    head_line_ = line;
    count_ -= skipped;
    return TakeHead(now, present, stats);
  }
  return present != nullptr ? std::max(now, *present) : Restart(line, now, stats);
}

}  // namespace sm89
