// Issue: from a warp's next instruction to its effects on units, registers, barriers and memory.
#include <algorithm>

#include "sim/base/assert.h"
#include "sim/sm/sm.h"

namespace sm89 {
namespace {

// Longest NANOSLEEP that is believed, in nanoseconds (PTX ISA: up to 1 ms).
constexpr int64_t kMaxSleepNs = 1'000'000;

bool NeedsLsu(const SmInst& inst, const DynInst& dyn) {
  return inst.unit == ExecUnit::kMem && dyn.mask != 0 && dyn.shape != nullptr &&
         inst.mem_op != MemOp::kCacheControl && inst.space != MemSpace::kConstant;
}

bool IsShuffle(const SmInst& inst) { return inst.mem_op == MemOp::kShuffle; }

}  // namespace

bool Sm::TryIssue(uint32_t slot, Cycle now, Cycle* retry) {
  Warp& warp = warps_[slot];
  const SmInst& inst = warp.inst();
  const Cycle unit_free = subs_[SubOf(slot)].units.EarliestIssue(inst, now);
  if (unit_free > now) {
    *retry = std::min(*retry, unit_free);
    if (warp.state != WarpState::kMathPipeThrottle) SetState(&warp, WarpState::kMathPipeThrottle, now);
    return false;
  }
  if ((NeedsLsu(inst, warp.next) || IsShuffle(inst)) && !MemoryCanIssue(slot, now, retry)) return false;
  Issue(slot, now);
  return true;
}

bool Sm::MemoryCanIssue(uint32_t slot, Cycle now, Cycle* retry) {
  Warp& warp = warps_[slot];
  const SmInst& inst = warp.inst();
  const bool lg =
      inst.space == MemSpace::kGlobal || inst.space == MemSpace::kLocal || inst.space == MemSpace::kGeneric;
  const WarpState reason = lg ? WarpState::kLgThrottle : WarpState::kMioThrottle;
  // A full queue is known without looking at the addresses.
  if (const Cycle room = lsu_.QueueRoom(SubOf(slot)); room > now) {
    *retry = std::min(*retry, room);
    if (warp.state != reason) SetState(&warp, reason, now);
    return false;
  }
  access_.num_lines = access_.num_local_lines = access_.shared_passes = access_.shared_passes_min = 0;
  if (!IsShuffle(inst)) Coalesce(inst, warp.next, *warp.code, warp.local, &access_);
  if (lsu_.HasRoomFor(inst, access_)) return true;
  // Not before a reply frees MSHRs or write buffers.
  lsu_blocked_.push_back(slot);
  subs_[SubOf(slot)].scheduler.Block(IndexInSub(slot));
  if (warp.state != reason) SetState(&warp, reason, now);
  return false;
}

void Sm::Issue(uint32_t slot, Cycle now) {
  Warp& warp = warps_[slot];
  const SmInst& inst = warp.inst();
  SmStats& stats = warp.stats->sm;
  SetState(&warp, WarpState::kSelected, now);
  ++issued_;
  ++stats.warp_instructions;
  stats.thread_instructions += static_cast<uint32_t>(__builtin_popcount(warp.next.mask));
  stats.masked_off_instructions += warp.next.mask == 0;
  ++(stats.*inst.counter);
  if (inst.guess != 0) ++warp.stats->guessed[inst.guess - 1];
  if (inst.reads_clock) ReadClock(&warp, now);
  subs_[SubOf(slot)].units.Reserve(inst, now, &stats);
  subs_[SubOf(slot)].scheduler.Issued(IndexInSub(slot));
  stats.tensor_ops += inst.tensor_ops;
  if (inst.unit == ExecUnit::kFp64) first_sub_ = (SubOf(slot) + 1) % num_sub_cores_;

  warp.wait_groups = -1;
  warp.wait_stores = false;
  warp.issue_after = now + 1;
  if (inst.unit == ExecUnit::kMem) {
    IssueMemory(slot, now);
  } else if (warp.next.mask != 0) {
    const bool texture = inst.unit == ExecUnit::kTexture;
    const WarpState reason = texture                 ? WarpState::kLongScoreboard
                             : inst.variable_latency ? WarpState::kShortScoreboard
                                                     : WarpState::kWait;
    SetDestinations(&warp, inst, now + inst.latency_cycles, reason);
    if (inst.writes_predicate) {
      warp.predicate_ready = std::max(warp.predicate_ready, now + config_.exec.predicate_latency_cycles);
    }
  }
  IssueControl(slot, now);
  Advance(slot, now);
}

// The value read is the issue cycle (assumption: hardware samples the counter a fixed number of cycles later,
// which differences do not show).
void Sm::ReadClock(Warp* warp, Cycle now) {
  const LaneMask lanes = warp->next.mask;
  if (lanes == 0) return;
  const uint32_t pc = warp->inst().pc;
  clock_samples_.push_back({.kernel = warp->kernel});
  std::vector<ClockReaders>& readers = warp->clock_readers;
  for (ClockReaders& before : readers) {
    const LaneMask both = before.lanes & lanes;
    if (both == 0) continue;
    before.lanes &= ~lanes;
    const auto threads = static_cast<uint32_t>(__builtin_popcount(both));
    clock_samples_.push_back({warp->kernel, threads, before.pc, pc, now - before.cycle});
  }
  std::erase_if(readers, [](const ClockReaders& r) { return r.lanes == 0; });
  readers.push_back({lanes, pc, now});
}

void Sm::IssueMemory(uint32_t slot, Cycle now) {
  Warp& warp = warps_[slot];
  const SmInst& inst = warp.inst();
  if (warp.next.mask == 0) return;  // no request; the destination is free at once
  if (inst.space == MemSpace::kConstant) {
    SetDestinations(&warp, inst, now + config_.l1.constant_latency_cycles, WarpState::kShortScoreboard);
    return;
  }
  if (IsShuffle(inst)) {
    SetDestinations(&warp, inst, lsu_.IssueShuffle(SubOf(slot), now), WarpState::kShortScoreboard);
    return;
  }
  if (!NeedsLsu(inst, warp.next)) {
    SetDestinations(&warp, inst, now + inst.latency_cycles, WarpState::kShortScoreboard);
    return;
  }
  IssueAccess(slot, now);
}

void Sm::IssueAccess(uint32_t slot, Cycle now) {
  Warp& warp = warps_[slot];
  const SmInst& inst = warp.inst();
  AccessOwner owner;
  owner.warp = slot;
  owner.kernel = warp.kernel;
  owner.stats = &warp.stats->l1;
  owner.dests = inst.dests;
  owner.num_dests = inst.num_dests;
  owner.op = inst.mem_op;
  const bool async_copy = inst.mem_op == MemOp::kLoadToShared;
  if (async_copy) {
    owner.group = warp.groups.open_group();
    warp.groups.Add();
  }
  const AccessTicket ticket = lsu_.Issue(SubOf(slot), now, inst, access_, owner);
  warp.pending_stores += ticket.stores;
  if (async_copy) {
    ++warp.pending_loads;
    if (!ticket.pending) ScheduleAsyncCopy(slot, owner.group, ticket.ready);
    return;
  }
  const WarpState reason = ticket.long_latency ? WarpState::kLongScoreboard : WarpState::kShortScoreboard;
  if (ticket.pending) ++warp.pending_loads;
  SetDestinations(&warp, inst, ticket.pending ? kNever : ticket.ready, reason);
}

void Sm::IssueControl(uint32_t slot, Cycle now) {
  Warp& warp = warps_[slot];
  const SmInst& inst = warp.inst();
  const auto hold = [&](Cycle cycles, WarpState reason) {
    warp.issue_after = now + std::max<Cycle>(cycles, 1);
    warp.issue_after_reason = reason;
  };
  switch (inst.control) {
    case ControlOp::kBranch:
    case ControlOp::kCall:
    case ControlOp::kReturn:
      hold(config_.exec.branch.latency_cycles, WarpState::kBranchResolving);
      break;
    case ControlOp::kBarrier: {
      if (warp.next.mask == 0) break;
      warp.at_barrier = !inst.arrives_only;
      if (!warp.arrived) ++ctas_[warp.cta].at_barrier;
      warp.arrived = true;
      break;
    }
    case ControlOp::kMembar: {
      const bool sys = inst.scope == Scope::kSys;
      const bool wide = sys || inst.scope == Scope::kGpu;  // beyond the CTA: stores must be acknowledged
      hold(sys    ? config_.l1.membar_sys_cycles
           : wide ? config_.l1.membar_gpu_cycles
                  : config_.l1.membar_cta_cycles,
           WarpState::kMembar);
      warp.wait_stores = wide;
      break;
    }
    case ControlOp::kDepbar:
      warp.wait_groups = std::clamp<int64_t>(inst.immediate, 0, AsyncCopyGroups::kMax);
      break;
    case ControlOp::kLdgDepbar:
      warp.groups.Close();
      break;
    case ControlOp::kNanosleep: {
      const auto ns = static_cast<uint64_t>(std::clamp<int64_t>(inst.immediate, 0, kMaxSleepNs));
      hold(ns * config_.clocks.core_khz / 1'000'000, WarpState::kSleeping);
      break;
    }
    case ControlOp::kExit:
    case ControlOp::kConvergence:
    case ControlOp::kYield:
    case ControlOp::kNone:
      break;
  }
}

void Sm::Advance(uint32_t slot, Cycle now) {
  Warp& warp = warps_[slot];
  warp.has_next = warp.cursor->Next(&warp.next);
  if (!warp.has_next) trace_status_.Update(warp.cursor->status());
  const uint32_t cta = warp.cta;
  Reschedule(slot, now);
  // The last arrival opens the barrier, its own warp included.
  if (ctas_[cta].active && ctas_[cta].at_barrier != 0 && ctas_[cta].at_barrier >= ctas_[cta].live_warps) {
    ReleaseBarrier(cta, now);
  }
}

void Sm::Reschedule(uint32_t slot, Cycle now) {
  Warp& warp = warps_[slot];
  warp_blocked_[slot] = false;
  if (warp.at_barrier) return Block(slot, WarpState::kBarrier, now);
  if (!warp.has_next) {
    if (warp.pending_loads != 0 || warp.pending_stores != 0) return Block(slot, WarpState::kDrain, now);
    return FinishWarp(slot, now + 1);
  }
  const Readiness readiness = DependencesOf(warp, now);
  if (readiness.blocked) return Block(slot, readiness.reason, now);
  const Cycle wake = std::max(readiness.ready, now + 1);
  subs_[SubOf(slot)].scheduler.Sleep(IndexInSub(slot), now, wake);
  SetState(&warp, readiness.reason, now + 1);
  Touch(SubOf(slot), wake);
}

void Sm::ReleaseBarrier(uint32_t cta_index, Cycle now) {
  Cta& cta = ctas_[cta_index];
  cta.at_barrier = 0;
  // Releasing may end warps and so the CTA: walk a copy of the slots.
  const std::vector<uint32_t> slots = cta.warps;
  for (const uint32_t slot : slots) {
    Warp& warp = warps_[slot];
    if (warp.active && warp.cta == cta_index) warp.arrived = false;
  }
  for (const uint32_t slot : slots) {
    Warp& warp = warps_[slot];
    if (!warp.active || warp.cta != cta_index || !warp.at_barrier) continue;
    warp.at_barrier = false;
    Reschedule(slot, now);
  }
}

void Sm::Deliver(const MemReply& reply) {
  completions_.clear();
  lsu_.HandleReply(reply, &completions_);
  for (const Completion& done : completions_) {
    Warp& warp = warps_[done.owner.warp];
    SM89_ASSERT(warp.active, "a completion for a warp that has ended");
    if (done.store_ack) {
      SM89_ASSERT(warp.pending_stores > 0, "stores under way");
      --warp.pending_stores;
    } else if (done.owner.op == MemOp::kLoadToShared) {
      ScheduleAsyncCopy(done.owner.warp, done.owner.group, done.ready);
      continue;
    } else {
      SM89_ASSERT(warp.pending_loads > 0, "loads under way");
      --warp.pending_loads;
      SmInst dests;
      dests.dests = done.owner.dests;
      dests.num_dests = done.owner.num_dests;
      SetDestinations(&warp, dests, done.ready, WarpState::kLongScoreboard);
    }
    if (warp_blocked_[done.owner.warp]) Reschedule(done.owner.warp, reply.cycle);
  }
  // Room in the MSHRs or write buffers: everyone who waits for it tries again.
  for (const uint32_t slot : lsu_blocked_) {
    subs_[SubOf(slot)].scheduler.MakeCandidate(IndexInSub(slot));
    Touch(SubOf(slot), reply.cycle);
  }
  lsu_blocked_.clear();
}

void Sm::ScheduleAsyncCopy(uint32_t slot, uint32_t group, Cycle loaded) {
  const Cycle to_shared = config_.l1.ldgsts_latency_cycles -
                          std::min(config_.l1.ldgsts_latency_cycles, config_.l1.latency_cycles);
  local_events_.Push(loaded + to_shared, {slot, group});
}

void Sm::FinishAsyncCopy(const LocalEvent& event, Cycle now) {
  Warp& warp = warps_[event.warp];
  SM89_ASSERT(warp.active && warp.pending_loads > 0, "an async copy without its warp");
  --warp.pending_loads;
  warp.groups.Complete(event.group);
  if (warp_blocked_[event.warp]) Reschedule(event.warp, now);
}

}  // namespace sm89
