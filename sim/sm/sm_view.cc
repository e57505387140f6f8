// What an SM tells debuggers.
#include <algorithm>
#include <optional>

#include "sim/sm/sm.h"
#include "sim/sm/warp_view.h"

namespace sm89 {
namespace {

uint32_t NumberIn(const std::vector<uint32_t>& slots, uint32_t slot) {
  return static_cast<uint32_t>(std::find(slots.begin(), slots.end(), slot) - slots.begin());
}

}  // namespace

void Sm::TellObserver(uint32_t slot, Cycle now, const IssuePlace& place) const {
  const Warp& warp = warps_[slot];
  const Cta& cta = ctas_[warp.cta];
  IssuedInst issued;
  issued.cycle = now;
  issued.number = warp.issued;
  issued.cta = cta.id;
  issued.kernel = warp.kernel;
  issued.warp = NumberIn(cta.warps, slot);
  issued.slot = slot;
  issued.sm = id_;
  issued.sub_core = static_cast<uint8_t>(place.sub);
  issued.rides = place.rides;
  issued.inst = &warp.next;
  issued.code = &warp.inst();
  issued.kernel_code = warp.code;
  observer_->Issued(issued);
}

std::optional<WarpView> Sm::View(uint32_t slot, Cycle now) const {
  if (slot >= warps_.size() || !warps_[slot].active) return std::nullopt;
  const Warp& warp = warps_[slot];
  const Cta& cta = ctas_[warp.cta];
  const SubCore& sub = subs_[SubOf(slot)];
  WarpView view;
  view.cta = cta.id;
  view.kernel = warp.kernel;
  view.warp = NumberIn(cta.warps, slot);
  view.slot = slot;
  view.sub_core = SubOf(slot);
  view.resident_lanes = warp.resident_lanes;
  view.issued = warp.issued;
  if (warp.issued != 0) view.issued_at = warp.issued_at[(warp.issued - 1) % kMaxIbuffer];
  view.has_next = warp.has_next;
  view.next = warp.next;
  view.kernel_code = warp.code;
  if (warp.has_next) view.code = &warp.inst();
  for (uint32_t c = 0; c < kNumDependenceCounters; ++c) {
    view.counters[c] = {warp.counters.raw(c), warp.counters.reason(c)};
  }
  view.loads = warp.pending_loads;
  view.stores = warp.pending_stores;
  view.events = warp.pending_events;
  view.memory_queued = lsu_.Queued(view.sub_core, now);
  view.memory_queue_size = lsu_.queue_size();
  view.at_barrier = warp.at_barrier;
  if (warp.at_barrier) {
    const Barrier& barrier = cta.barriers[warp.barrier];
    view.barrier = warp.barrier;
    view.barrier_arrived = barrier.arrived;
    view.barrier_expected = ExpectedAt(cta, barrier);
  }
  // As AddStats and CountIssue count this cycle.
  view.state = warp.state;
  view.since = warp.since;
  if (now < warp.hold_until) {
    view.state = warp.hold_reason;
    view.until = warp.hold_until;
  } else if (warp.state == WarpState::kNotSelected && warp.has_next) {
    const bool memory = warp.inst().path == IssuePath::kMemory;
    const BusyTime& busy = memory ? sub.memory_queue : sub.units.Of(warp.inst().pipe);
    view.since = std::max(warp.candidate_since, warp.since);
    view.until = std::max({now, sub.issue.free(), busy.free()});
    if (sub.issue.free() > now) {
      view.state = WarpState::kDispatch;
    } else if (busy.free() > now) {
      view.state = ThrottleOf(warp.inst());
    }
  }
  return view;
}

}  // namespace sm89
