// What an SM tells debuggers.
#include <algorithm>
#include <optional>
#include <span>

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
  const StateNow shown = StateAt(slot, now);
  view.state = shown.state;
  view.since = shown.since;
  view.until = shown.until;
  if (const RefusalQueue* const refusals = RefusalsOf(slot); refusals != nullptr) {
    const std::span<const uint8_t> order = refusals->order();
    view.refused_ahead =
        static_cast<uint32_t>(std::find(order.begin(), order.end(), IndexInSub(slot)) - order.begin());
  }
  return view;
}

// As AddStats and CountIssue count this cycle.
Sm::StateNow Sm::StateAt(uint32_t slot, Cycle now) const {
  const Warp& warp = warps_[slot];
  const SubCore& sub = subs_[SubOf(slot)];
  if (now < warp.hold_until) return {warp.hold_reason, warp.since, warp.hold_until};
  StateNow shown{warp.state, warp.since, kNever};
  if (warp.state != WarpState::kNotSelected || !warp.has_next) return shown;
  const bool memory = warp.inst().path == IssuePath::kMemory;
  const BusyTime& busy = memory ? sub.memory_queue : sub.units.Of(warp.inst().pipe);
  shown.since = std::max(warp.candidate_since, warp.since);
  shown.until = std::max({now, sub.issue.free(), busy.free()});
  if (sub.issue.free() > now) {
    shown.state = WarpState::kDispatch;
  } else if (busy.free() > now) {
    shown.state = ThrottleOf(warp.inst());
  }
  return shown;
}

const RefusalQueue* Sm::RefusalsOf(uint32_t slot) const {
  const Warp& warp = warps_[slot];
  if (!warp.has_next) return nullptr;
  const SubCore& sub = subs_[SubOf(slot)];
  if (warp.inst().path == IssuePath::kMemory) return &sub.memory_refused;
  return warp.inst().pipe == Pipe::kSfu ? &sub.sfu_refused : nullptr;
}

}  // namespace sm89
