// Issue: from a warp's next instruction to its effects on units, registers, counters, barriers and memory.
#include <algorithm>

#include "sim/base/assert.h"
#include "sim/base/bits.h"
#include "sim/sm/sm.h"

namespace sm89 {
namespace {

// Longest NANOSLEEP that is believed, in nanoseconds (PTX ISA: up to 1 ms).
constexpr int64_t kMaxSleepNs = 1'000'000;

// Stall count 0 with the yield flag (ERRBAR, the branch to itself behind EXIT), measured in the core model's
// source; a stall count above 11 without the flag holds the warp for 2 cycles only.
constexpr Cycle kStallZeroYieldCycles = 45;
constexpr uint32_t kLongestPlainStall = 11;
constexpr Cycle kOddStallCycles = 2;

// Issue to operands read, units of variable latency that are not in the memory pipeline: Control, the unit's
// latch, three read cycles (assumption, after the fixed-latency pipeline of the same source).
constexpr Cycle kVariableReadCycles = 6;

Cycle EarliestAfter(const ControlBits& bits, Cycle now) {
  if (bits.stall_cycles == 0 && bits.yield) return now + kStallZeroYieldCycles;
  if (bits.stall_cycles > kLongestPlainStall && !bits.yield) return now + kOddStallCycles;
  if (bits.stall_cycles <= 1) return now + (bits.yield ? 2 : 1);
  return now + bits.stall_cycles;
}

// Goes to memory with addresses that are known.
bool AddressesMemory(const Warp& warp) {
  return warp.next.mask != 0 && warp.next.shape != nullptr && warp.inst().mem_op != MemOp::kShuffle;
}

}  // namespace

bool Sm::TryIssue(uint32_t slot, Cycle now) {
  const SmInst& inst = warps_[slot].inst();
  if (inst.constant_bank != DecodedInst::kNoConstant && !ConstantReady(slot, now)) return false;
  if (inst.path == IssuePath::kMemory && !MemoryHasRoom(slot, now)) return false;
  if (ser_ != nullptr) {
    IssueWithRiders(slot, now);
  } else {
    Issue(slot, now, {SubOf(slot)});
  }
  return true;
}

// A fixed-latency constant operand is looked up when the instruction wants to issue. The scheduler waits a
// few cycles for the warp that it has just issued from, then turns to others.
bool Sm::ConstantReady(uint32_t slot, Cycle now) {
  Warp& warp = warps_[slot];
  const SmInst& inst = warp.inst();
  if (warp.constant_ready || inst.unit == ExecUnit::kMem) return true;
  SubCore& sub = subs_[SubOf(slot)];
  ++warp.stats->sm.constant_accesses;
  const uint64_t line = sub.constants.LineOf(warp.code->code_base, inst.constant_bank, inst.constant_offset);
  const Cycle ready = sub.constants.Ready(line, now, &warp.stats->sm);
  warp.constant_ready = true;
  if (ready <= now) return true;
  if (sub.scheduler.last() == IndexInSub(slot)) {
    sub.issue.OccupyUntil(now, std::min(ready, now + config_.constant.miss_switch_cycles));
  }
  // It waits for something else now: others may have the unit that refused it.
  sub.sfu_refused.Remove(IndexInSub(slot));
  Hold(slot, now, ready, WarpState::kImcMiss);
  return false;
}

// Room in the queue has been checked; what misses needs entries of its own. Who came earlier gets them first.
bool Sm::MemoryHasRoom(uint32_t slot, Cycle now) {
  Warp& warp = warps_[slot];
  const SmInst& inst = warp.inst();
  RefusedAccess& refused = warp.refused;
  if (!AddressesMemory(warp)) {
    access_.Clear();
    return true;
  }
  const RoomPool pool = PoolOf(inst.mem_op);
  std::deque<uint32_t>& queue = room_queues_[static_cast<size_t>(pool)];
  if (refused.waits) {
    // What was kept for it is given to it; the L1 may have lost a line since.
    refused.Restore(&access_);
    lsu_.Release(pool, refused.entries_kept);
    refused.entries_kept = 0;
    if (lsu_.HasRoomFor(inst, access_)) return true;
    queue.push_front(slot);
  } else {
    Coalesce(inst, warp.next, *warp.code, warp.local, &shared_passes_, &access_);
    if (queue.empty() ? lsu_.HasRoomFor(inst, access_) : !lsu_.NeedsRoom(inst, access_)) return true;
    refused.Keep(access_);
    queue.push_back(slot);
  }
  subs_[SubOf(slot)].memory_refused.Remove(IndexInSub(slot));
  Block(slot, Blocked::kLsu, inst.long_latency ? WarpState::kLgThrottle : WarpState::kMioThrottle, now);
  return false;
}

void Sm::GiveRoom(Cycle from) {
  for (std::deque<uint32_t>& queue : room_queues_) {
    for (; !queue.empty(); queue.pop_front()) {
      const uint32_t slot = queue.front();
      Warp& warp = warps_[slot];
      const auto kept = lsu_.Reserve(warp.inst(), warp.refused.global(), warp.refused.local());
      if (!kept.has_value()) break;
      warp.refused.entries_kept = *kept;
      SleepUntil(slot, from, from);
    }
  }
}

// The cycles as a candidate that the issue port or the pipe took away, and those lost to other warps.
void Sm::CountIssue(Warp* warp, uint32_t home, const IssuePlace& place, Cycle now) {
  const SubCore& sub = subs_[home];
  const SmInst& inst = warp->inst();
  SetState(warp, WarpState::kSelected, now);  // all of them counted as not selected so far
  SmStats& stats = warp->stats->sm;
  const bool memory = inst.path == IssuePath::kMemory;
  const Cycle since = std::min(now, warp->candidate_since);
  const Cycle port = std::min(sub.issue.ClosedBefore(now) - warp->closed_issue, now - since);
  const BusyTime& busy = memory ? sub.memory_queue : sub.units.Of(inst.pipe);
  const Cycle pipe = std::min(busy.ClosedBefore(now) - warp->closed_pipe, now - since - port);
  if (port + pipe != 0) {
    const WarpState reason = ThrottleOf(inst);
    const auto move = [&](auto&& cycles) {
      cycles(WarpState::kNotSelected) -= port + pipe;
      cycles(WarpState::kDispatch) += port;
      cycles(reason) += pipe;
    };
    move([&](WarpState state) -> uint64_t& { return stats.*CounterOf(state); });
    if (warp->profile_row != nullptr) {
      move([&](WarpState state) -> uint64_t& {
        return warp->profile_row->cycles[static_cast<size_t>(state)];
      });
    }
  }
  const auto lanes = CountBits(warp->next.mask);
  ++stats.warp_instructions;
  stats.thread_instructions += lanes;
  stats.masked_off_instructions += lanes == 0;
  ++(stats.*inst.counter);
  stats.tensor_ops += inst.tensor_ops;
  if (inst.guess != 0) ++warp->stats->guessed[inst.guess - 1];
  if (warp->profile_row != nullptr) {
    ++warp->profile_row->issued;
    warp->profile_row->threads += lanes;
  }
  if (place.rides) return;
  SlotCount& count = warp->stats->slots[place.sub];
  stats.issue_slots_stalled += now - count.covered_until;
  count.covered_until = now + 1;
}

void Sm::Issue(uint32_t slot, Cycle now, const IssuePlace& place) {
  Warp& warp = warps_[slot];
  const SmInst& inst = warp.inst();
  const uint32_t home_index = SubOf(slot);
  SubCore& home = subs_[home_index];
  SubCore& sub = subs_[place.sub];
  const bool away = place.rides || place.sub != home_index;
  CountIssue(&warp, home_index, place, now);
  if (ser_ != nullptr) NoteSer(warp, slot, now);
  if (observer_ != nullptr) [[unlikely]]
    TellObserver(slot, now, place);
  ++issued_;
  if (inst.reads_clock) ReadClock(&warp, now);
  if (!place.rides) {
    sub.units.Reserve(inst, now, &warp.stats->sm);
    sub.issued_at = now;
    if (inst.issue_cycles > 1) sub.issue.OccupyUntil(now, now + inst.issue_cycles);
  }
  if (!away) home.scheduler.Issued(IndexInSub(slot));
  if (inst.path == IssuePath::kMemory) home.memory_refused.Remove(IndexInSub(slot));
  if (inst.pipe == Pipe::kSfu) home.sfu_refused.Remove(IndexInSub(slot));
  if (inst.pipe == Pipe::kFp64) first_sub_ = (place.sub + 1) % num_sub_cores_;

  Outcome outcome{now + 1, now + 1, false};
  switch (inst.path) {
    case IssuePath::kFixed:
      outcome = IssueFixed(slot, now, place);
      break;
    case IssuePath::kVariable:
      outcome = IssueVariable(slot, now);
      break;
    case IssuePath::kMemory:
      outcome = IssueMemory(slot, now, place);
      break;
    case IssuePath::kNone:
      outcome = {now + kVariableReadCycles, now + std::max<Cycle>(inst.latency_cycles, 1), false};
      break;
  }
  outcome.released += place.extra;
  outcome.ready += place.extra;
  RaiseCounters(slot, outcome, now);
  Cycle earliest = EarliestAfter(inst.bits, now) + place.extra;
  WarpState reason = WarpState::kWait;
  if (inst.control != ControlOp::kNone) {
    WarpState why = WarpState::kWait;
    const Cycle held = IssueControl(slot, now, &why);
    if (held > earliest) {
      earliest = held;
      reason = why;
    }
  }
  Advance(slot, now, earliest, reason);
}

Sm::Outcome Sm::IssueFixed(uint32_t slot, Cycle now, const IssuePlace& place) {
  Warp& warp = warps_[slot];
  const SmInst& inst = warp.inst();
  RegisterFile& registers = subs_[SubOf(slot)].registers;
  const Cycle next = registers.Read(slot, inst, now, &warp.stats->sm);
  if (!place.rides) subs_[place.sub].issue.OccupyUntil(now, next);
  registers.Write(inst.result, now + inst.latency_cycles + place.extra);
  return {now + kVariableReadCycles, now + inst.latency_cycles, false};
}

Sm::Outcome Sm::IssueVariable(uint32_t slot, Cycle now) {
  Warp& warp = warps_[slot];
  const SmInst& inst = warp.inst();
  SubCore& sub = subs_[SubOf(slot)];
  Cycle ready = now + inst.latency_cycles;
  if (inst.space == MemSpace::kConstant && inst.constant_bank != DecodedInst::kNoConstant) {
    const uint64_t line =
        sub.constants.LineOf(warp.code->code_base, inst.constant_bank, inst.constant_offset);
    ready += constant_l1_.Delay(line, now, &warp.stats->sm);
  }
  return {now + kVariableReadCycles, ready, false};
}

Sm::Outcome Sm::IssueMemory(uint32_t slot, Cycle now, const IssuePlace& place) {
  Warp& warp = warps_[slot];
  const SmInst& inst = warp.inst();
  const uint32_t sub_index = place.sub;
  SubCore& sub = subs_[sub_index];
  AccessTicket ticket;
  if (warp.next.mask == 0) {
    ticket = lsu_.IssueMaskedOff(sub_index, now, inst);
  } else if (!AddressesMemory(warp)) {
    ticket = lsu_.IssueWithoutMemory(sub_index, now, inst);
  } else {
    AccessOwner owner;
    owner.warp = slot;
    owner.kernel = warp.kernel;
    owner.stats = warp.stats;
    owner.result = inst.result;
    owner.counter = inst.bits.write_counter;
    owner.op = inst.mem_op;
    const bool async_copy = inst.mem_op == MemOp::kLoadToShared;
    if (async_copy) {
      owner.group = warp.groups.open_group();
      warp.groups.Add();
    }
    if (warp.profile_row == nullptr) {
      ticket = lsu_.Issue(sub_index, now, inst, access_, owner);
    } else {
      owner.row = warp.profile_row;
      const L1Stats before = warp.stats->l1;
      ticket = lsu_.Issue(sub_index, now, inst, access_, owner);
      AddAccess(before, warp.stats->l1, &warp.profile_row->memory);
    }
    warp.pending_stores += ticket.stores;
    if (ticket.pending || async_copy) ++warp.pending_loads;
    if (async_copy && !ticket.pending) ticket.ready = ScheduleAsyncCopy(slot, owner.group, ticket.ready);
  }
  sub.memory_queue.OccupyUntil(now, lsu_.QueueRoom(sub_index));
  if (warp.refused.waits) {
    warp.refused.waits = false;
    GiveRoom(now + 1);  // it may have needed less than was kept for it
  }
  return {ticket.released, ticket.ready, ticket.pending};
}

void Sm::RaiseCounters(uint32_t slot, const Outcome& outcome, Cycle now) {
  Warp& warp = warps_[slot];
  const SmInst& inst = warp.inst();
  const WarpState reason = inst.long_latency ? WarpState::kLongScoreboard : WarpState::kShortScoreboard;
  // The Control stage raises it a cycle behind the issue: it falls a cycle behind that or later.
  const Cycle falls = now + 2;
  if (inst.bits.read_counter < kNumDependenceCounters) {
    warp.counters.Raise(inst.bits.read_counter, now, reason);
    PushCounter(slot, inst.bits.read_counter, std::max(outcome.released, falls));
  }
  if (inst.bits.write_counter < kNumDependenceCounters) {
    // ptxas writes LDGDEPBAR with a stall of 1 in front of the DEPBAR that has to see it: it counts at once.
    const bool group = inst.control == ControlOp::kLdgDepbar;
    warp.counters.Raise(inst.bits.write_counter, group ? now - 1 : now, reason);
    // A group's counter falls with the group, a miss's with its reply.
    if (group || outcome.pending) return;
    PushCounter(slot, inst.bits.write_counter, std::max(outcome.ready, falls), inst.result);
  }
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
    const auto threads = CountBits(both);
    clock_samples_.push_back({warp->kernel, threads, before.pc, pc, now - before.cycle});
  }
  std::erase_if(readers, [](const ClockReaders& r) { return r.lanes == 0; });
  readers.push_back({lanes, pc, now});
}

Cycle Sm::IssueControl(uint32_t slot, Cycle now, WarpState* reason) {
  Warp& warp = warps_[slot];
  const SmInst& inst = warp.inst();
  switch (inst.control) {
    case ControlOp::kBarrier: {
      if (warp.next.mask == 0) break;
      Barrier& barrier = ctas_[warp.cta].barriers[inst.barrier % kNumBarriers];
      if (inst.barrier_warps != 0) barrier.expected = inst.barrier_warps;
      if (!warp.arrived) {
        ++barrier.arrived;
        // Who only arrives may come again before the others do.
        warp.arrived = !inst.arrives_only;
        if (inst.arrives_only) warp.only_arrived |= static_cast<uint16_t>(1u << inst.barrier % kNumBarriers);
      }
      // The SM takes arrivals one after the other.
      barrier_free_ = std::max(now, barrier_free_) + config_.l1.barrier_arrival_cycles;
      warp.barrier = inst.barrier % kNumBarriers;
      warp.at_barrier = !inst.arrives_only;
      break;
    }
    case ControlOp::kMembar: {
      const bool sys = inst.scope == Scope::kSys;
      const bool wide = sys || inst.scope == Scope::kGpu;  // beyond the CTA: stores must be acknowledged
      warp.wait_stores = wide;
      *reason = WarpState::kMembar;
      return now + (sys    ? config_.l1.membar_sys_cycles
                    : wide ? config_.l1.membar_gpu_cycles
                           : config_.l1.membar_cta_cycles);
    }
    case ControlOp::kLdgDepbar:
      warp.groups.Close(inst.bits.write_counter);
      FinishGroups(slot, now);
      break;
    case ControlOp::kNanosleep: {
      const auto ns = static_cast<uint64_t>(std::clamp<int64_t>(inst.immediate, 0, kMaxSleepNs));
      *reason = WarpState::kSleeping;
      return now + std::max<Cycle>(ns * config_.clocks.core_khz / 1'000'000, 1);
    }
    case ControlOp::kConvergence:
      if (!inst.reconverges) break;
      *reason = WarpState::kBranchResolving;
      return now + config_.front.convergence_cycles;
    case ControlOp::kBranch:
    case ControlOp::kCall:
    case ControlOp::kReturn:
    case ControlOp::kDepbar:
    case ControlOp::kExit:
    case ControlOp::kYield:
    case ControlOp::kNone:
      break;
  }
  return now + 1;
}

}  // namespace sm89
