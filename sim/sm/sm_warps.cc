// A warp between two issues: the next instruction's way into the buffer, what it waits for, and the events
// that end the wait.
#include <algorithm>

#include "sim/base/assert.h"
#include "sim/sm/sm.h"

namespace sm89 {
void Sm::SetNext(uint32_t slot, bool present) {
  SubCore& sub = subs_[SubOf(slot)];
  const uint32_t bit = uint32_t{1} << IndexInSub(slot);
  const SmInst& inst = warps_[slot].inst();
  uint32_t& pipe = sub.next_pipe[static_cast<size_t>(inst.pipe)];
  pipe = present ? pipe | bit : pipe & ~bit;
  if (inst.path == IssuePath::kMemory) {
    sub.next_memory = present ? sub.next_memory | bit : sub.next_memory & ~bit;
  }
}

// The L0 is asked once a line, when the buffer has an entry for the line's first instruction: as soon as the
// instruction that many places ahead has issued.
Cycle Sm::FetchNext(Warp* warp, SubCore* sub, const Previous& previous, Cycle now) {
  const uint32_t pc = warp->inst().pc;
  const uint64_t line = (warp->code->code_base + pc) / kCodeLineBytes;
  const FrontEndConfig& front = config_.front;
  const bool start = previous.start;
  const bool redirect = previous.Redirects(pc);
  if (!start && !redirect && line == warp->code_line) return now;
  warp->code_line = line;
  Cycle at = warp->fetch_floor;
  if (redirect) {
    at = now + std::max(front.branch_redirect_cycles, front.fetch_decode_cycles) - front.fetch_decode_cycles;
    warp->fetch_floor = at;
  } else if (warp->issued >= front.ibuffer_entries) {
    at = std::max(at, warp->issued_at[(warp->issued - front.ibuffer_entries) % kMaxIbuffer] + 1);
  }
  return sub->instructions.Fetch(line, at, &warp->stats->sm) + front.fetch_decode_cycles;
}

void Sm::Advance(uint32_t slot, Cycle now, Cycle earliest, WarpState reason) {
  Warp& warp = warps_[slot];
  SubCore& sub = subs_[SubOf(slot)];
  // A branch that some lanes take redirects even when the others go first (H200: divergence loops).
  const Previous previous{.pc = warp.inst().pc,
                          .branches = warp.inst().control == ControlOp::kBranch && warp.next.mask != 0};
  const bool at_barrier = warp.inst().control == ControlOp::kBarrier && warp.next.mask != 0;
  SetNext(slot, false);
  SetState(&warp, WarpState::kNotSelected, now + 1);
  warp.issued_at[warp.issued++ % kMaxIbuffer] = now;
  warp.constant_ready = false;
  warp.has_next = warp.cursor->Next(&warp.next);
  if (warp.has_next) {
    warp.resident_lanes |= warp.next.mask;
    if (warp.profile != nullptr) warp.profile_row = &warp.profile[warp.next.static_id];
    SetNext(slot, true);
    const Cycle fetched = FetchNext(&warp, &sub, previous, now);
    if (fetched > earliest) {
      earliest = fetched;
      const bool redirect = previous.Redirects(warp.inst().pc);
      const bool hit = fetched <= now + config_.front.branch_redirect_cycles;
      reason = redirect && hit ? WarpState::kBranchResolving : WarpState::kNoInstruction;
    }
  } else {
    trace_status_.Update(warp.cursor->status());
  }
  warp.hold_until = earliest;
  warp.hold_reason = reason;
  const uint32_t cta = warp.cta;
  const uint32_t barrier = warp.barrier;
  Reschedule(slot, now + 1);
  if (at_barrier) CheckBarrier(cta, barrier, now + 1);
}

void Sm::SleepUntil(uint32_t slot, Cycle from, Cycle wake) {
  Warp& warp = warps_[slot];
  warp.blocked = Blocked::kNo;
  warp.candidate_since = wake;
  if (warp.state != WarpState::kNotSelected) {
    SetState(&warp, WarpState::kNotSelected, std::max(from, warp.since));
  }
  Touch(SubOf(slot), subs_[SubOf(slot)].scheduler.Sleep(IndexInSub(slot), from - 1, wake));
}

void Sm::Hold(uint32_t slot, Cycle now, Cycle until, WarpState reason) {
  Warp& warp = warps_[slot];
  SetState(&warp, WarpState::kNotSelected, now);
  warp.hold_until = until;
  warp.hold_reason = reason;
  SleepUntil(slot, now + 1, until);
}

void Sm::Reschedule(uint32_t slot, Cycle from) {
  Warp& warp = warps_[slot];
  if (warp.at_barrier) return Block(slot, Blocked::kBarrier, WarpState::kBarrier, from);
  if (!warp.has_next) {
    const bool busy = warp.pending_loads != 0 || warp.pending_stores != 0 || warp.pending_events != 0;
    if (busy) return Block(slot, Blocked::kDrain, WarpState::kDrain, from);
    return FinishWarp(slot, std::max(from, warp.since));
  }
  if (warp.wait_stores && warp.pending_stores != 0) {
    return Block(slot, Blocked::kStores, WarpState::kMembar, from);
  }
  warp.wait_stores = false;
  const SmInst& inst = warp.inst();
  const Cycle wake = std::max(warp.hold_until, from);
  uint8_t wait = inst.bits.wait_mask;
  if (inst.control == ControlOp::kDepbar) {
    wait |= inst.depbar_mask;
    const bool named = inst.depbar_counter < kNumDependenceCounters;
    const auto allowed = static_cast<uint64_t>(std::max<int64_t>(inst.immediate, 0));
    if (named && warp.counters.Value(inst.depbar_counter, wake) > allowed) {
      const auto bit = static_cast<uint8_t>(1u << inst.depbar_counter);
      return Block(slot, Blocked::kCounters, warp.counters.Reason(bit), from);
    }
  }
  if (const uint8_t pending = warp.counters.Pending(wait, wake); pending != 0) {
    return Block(slot, Blocked::kCounters, warp.counters.Reason(pending), from);
  }
  if (const uint8_t full = warp.counters.Full(inst.bits); full != 0) {
    return Block(slot, Blocked::kCounters, warp.counters.Reason(full), from);
  }
  if (inst.control == ControlOp::kLdgDepbar && !warp.groups.CanClose()) {
    return Block(slot, Blocked::kGroups, WarpState::kLongScoreboard, from);
  }
  SleepUntil(slot, from, wake);
}

void Sm::CheckBarrier(uint32_t cta_index, uint32_t index, Cycle from) {
  Cta& cta = ctas_[cta_index];
  if (!cta.active) return;
  const Barrier& barrier = cta.barriers[index];
  if (barrier.arrived != 0 && barrier.arrived >= ExpectedAt(cta, barrier))
    ReleaseBarrier(cta_index, index, from);
}

void Sm::ReleaseBarrier(uint32_t cta_index, uint32_t index, Cycle from) {
  Cta& cta = ctas_[cta_index];
  cta.barriers[index] = {};
  // Releasing may end warps and so the CTA: walk a copy of the slots.
  const std::vector<uint32_t> slots = cta.warps;
  for (const uint32_t slot : slots) {
    Warp& warp = warps_[slot];
    if (!warp.active || warp.cta != cta_index) continue;
    if (warp.barrier == index) warp.arrived = false;
    warp.only_arrived &= static_cast<uint16_t>(~(1u << index));
  }
  for (const uint32_t slot : slots) {
    Warp& warp = warps_[slot];
    if (!warp.active || warp.cta != cta_index || !warp.at_barrier || warp.barrier != index) continue;
    warp.at_barrier = false;
    const Cycle open = std::max(from - 1, barrier_free_) + config_.l1.barrier_cycles;
    if (open > warp.hold_until) {
      SetState(&warp, WarpState::kBarrier, std::max(from, warp.since));
      warp.hold_until = open;
      warp.hold_reason = WarpState::kBarrier;
    }
    Reschedule(slot, from);
  }
}

void Sm::PushCounter(uint32_t slot, uint32_t counter, Cycle at, const RegRange& result) {
  ++warps_[slot].pending_events;
  local_events_.Push(
      at, {static_cast<uint16_t>(slot), EventKind::kCounter, static_cast<uint8_t>(counter), result, 0});
}

void Sm::LowerCounter(uint32_t slot, uint32_t counter, Cycle now) {
  Warp& warp = warps_[slot];
  const bool opens = warp.counters.Lower(counter);
  if (warp.blocked != Blocked::kCounters) return;
  if (opens || warp.inst().control == ControlOp::kDepbar) Reschedule(slot, now);
}

void Sm::Handle(const LocalEvent& event, Cycle now) {
  Warp& warp = warps_[event.warp];
  SM89_ASSERT(warp.active, "an event of a warp that has ended");
  if (event.kind == EventKind::kCounter) {
    // Fixed-latency results of this cycle go first.
    const Cycle written = subs_[SubOf(event.warp)].registers.WriteBack(event.result, now);
    if (written > now) return local_events_.Push(written, event);
    --warp.pending_events;
    LowerCounter(event.warp, event.counter, now);
  } else {
    SM89_ASSERT(warp.pending_loads > 0, "an async copy without its warp");
    --warp.pending_loads;
    warp.groups.Complete(event.group);
    FinishGroups(event.warp, now);
    if (warp.blocked == Blocked::kGroups) Reschedule(event.warp, now);
  }
  if (warp.blocked == Blocked::kDrain) Reschedule(event.warp, now);
}

void Sm::FinishGroups(uint32_t slot, Cycle now) {
  Warp& warp = warps_[slot];
  uint8_t counter = 0;
  while (warp.groups.TakeDone(&counter)) {
    if (counter >= kNumDependenceCounters) continue;
    // Of an empty group, it is raised in this cycle: it falls as an event.
    PushCounter(slot, counter, now + 2);
  }
}

void Sm::Deliver(const MemReply& reply, Cycle now) {
  ++replies_;
  completions_.clear();
  lsu_.HandleReply(reply, &completions_);
  for (const Completion& done : completions_) {
    const uint32_t slot = done.owner.warp;
    Warp& warp = warps_[slot];
    SM89_ASSERT(warp.active, "a completion for a warp that has ended");
    if (done.store_ack) {
      SM89_ASSERT(warp.pending_stores > 0, "stores under way");
      --warp.pending_stores;
      if (warp.blocked == Blocked::kStores && warp.pending_stores == 0) Reschedule(slot, now);
    } else if (done.owner.op == MemOp::kLoadToShared) {
      const Cycle copied = ScheduleAsyncCopy(slot, done.owner.group, done.ready);
      if (done.owner.counter < kNumDependenceCounters) PushCounter(slot, done.owner.counter, copied);
      continue;
    } else {
      SM89_ASSERT(warp.pending_loads > 0, "loads under way");
      --warp.pending_loads;
      if (done.owner.counter < kNumDependenceCounters) {
        PushCounter(slot, done.owner.counter, std::max(done.ready, now + 1), done.owner.result);
      }
    }
    if (warp.blocked == Blocked::kDrain) Reschedule(slot, now);
  }
  GiveRoom(now);
}

Cycle Sm::ScheduleAsyncCopy(uint32_t slot, uint32_t group, Cycle loaded) {
  const Cycle to_shared = config_.l1.ldgsts_latency_cycles -
                          std::min(config_.l1.ldgsts_latency_cycles, config_.l1.latency_cycles);
  const Cycle copied = loaded + to_shared;
  local_events_.Push(copied, {static_cast<uint16_t>(slot), EventKind::kAsyncCopy, 0, {}, group});
  return copied;
}

}  // namespace sm89
