// Named barriers of a CTA. They count threads; a warp all of whose live lanes have arrived counts as a whole
// one (PTX ISA, barrier: counts are in warps).
#include <algorithm>

#include "sim/base/bits.h"
#include "sim/emu/machine.h"

namespace sm89::emu {

uint32_t ArrivedThreads(const Cta& cta, const NamedBarrier& b) {
  uint32_t threads = 0;
  for (const Warp& w : cta.warps) {
    const LaneMask here = b.arrived[w.index];
    // Without a count of its own the barrier waits for the live ones.
    const bool whole = here != 0 && (w.live & ~here) == 0 && b.expected_threads != 0;
    threads += whole ? kWarpSize : CountBits(b.expected_threads == 0 ? here & w.live : here);
  }
  return threads;
}

uint32_t ExpectedThreads(const Cta& cta, const NamedBarrier& b) {
  if (b.expected_threads != 0) return b.expected_threads;
  uint32_t threads = 0;
  for (const Warp& w : cta.warps) threads += CountBits(w.live);
  return threads;
}

namespace {

bool Complete(const Machine& m, const NamedBarrier& b) {
  if (b.expected_threads != 0) return ArrivedThreads(*m.cta, b) >= b.expected_threads;
  return std::all_of(m.cta->warps.begin(), m.cta->warps.end(),
                     [&](const Warp& w) { return (w.live & ~b.arrived[w.index]) == 0; });
}

void Free(Machine& m, uint32_t barrier) {
  NamedBarrier& b = m.cta->barriers[barrier];
  for (Warp& w : m.cta->warps) {
    for (uint32_t i = 0; i < w.num_splits; ++i) {
      Split& s = w.splits[i];
      if (s.state != SplitState::kCtaBarrier || s.barrier != barrier) continue;
      s.state = SplitState::kReady;
      w.reduced_count = b.count;
      // Which of the two the instruction asked for is in `wait`: see ArriveAtBarrier.
      w.reduced_flag = s.wait == 1 ? b.all : b.any;
    }
  }
  b = NamedBarrier{};
}

}  // namespace

void ArriveAtBarrier(Exec& x, const BarArrival& arrival) {
  if (arrival.lanes == 0) return;
  Machine& m = *x.machine;
  NamedBarrier& b = m.cta->barriers[arrival.barrier];
  b.in_use = true;
  b.expected_threads = arrival.expected_threads;
  b.arrived[m.warp->index] |= arrival.lanes;
  if (arrival.kind == BarKind::kReduce) {
    b.count += static_cast<uint32_t>(__builtin_popcount(arrival.predicate & arrival.lanes));
    b.all &= (~arrival.predicate & arrival.lanes) == 0;
    b.any |= (arrival.predicate & arrival.lanes) != 0;
  }
  if (arrival.kind != BarKind::kArrive) {
    PutToWait(x, arrival.lanes, SplitState::kCtaBarrier, static_cast<uint8_t>(arrival.barrier),
              arrival.reduce_all ? 1 : 0);
  }
  if (Complete(m, b)) Free(m, arrival.barrier);
}

void CheckBarriers(Machine& m) {
  for (uint32_t i = 0; i < kNamedBarriers; ++i) {
    const NamedBarrier& b = m.cta->barriers[i];
    if (b.in_use && Complete(m, b)) Free(m, i);
  }
}

}  // namespace sm89::emu
