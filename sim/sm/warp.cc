#include "sim/sm/warp.h"

#include <algorithm>

#include "sim/base/assert.h"

namespace sm89 {

uint64_t SmStats::*CounterOf(WarpState state) {
  switch (state) {
    case WarpState::kSelected:
      return &SmStats::stall_selected;
    case WarpState::kNotSelected:
      return &SmStats::stall_not_selected;
    case WarpState::kLongScoreboard:
      return &SmStats::stall_long_scoreboard;
    case WarpState::kShortScoreboard:
      return &SmStats::stall_short_scoreboard;
    case WarpState::kWait:
      return &SmStats::stall_wait;
    case WarpState::kMathPipeThrottle:
      return &SmStats::stall_math_pipe_throttle;
    case WarpState::kMioThrottle:
      return &SmStats::stall_mio_throttle;
    case WarpState::kLgThrottle:
      return &SmStats::stall_lg_throttle;
    case WarpState::kBarrier:
      return &SmStats::stall_barrier;
    case WarpState::kMembar:
      return &SmStats::stall_membar;
    case WarpState::kBranchResolving:
      return &SmStats::stall_branch_resolving;
    case WarpState::kSleeping:
      return &SmStats::stall_sleeping;
    case WarpState::kDrain:
      return &SmStats::stall_drain;
  }
  SM89_ASSERT(false, "unknown warp state");
}

void AsyncCopyGroups::Close() {
  SM89_ASSERT(CanClose(), "too many async-copy groups under way");
  ++open_;
  DropComplete();
}

void AsyncCopyGroups::Complete(uint32_t group) {
  uint16_t& pending = pending_[group % kMax];
  SM89_ASSERT(pending > 0, "an async copy completed twice");
  --pending;
  DropComplete();
}

void AsyncCopyGroups::DropComplete() {
  while (oldest_ < open_ && pending_[oldest_ % kMax] == 0) ++oldest_;
}

bool AsyncCopyGroups::Drained(uint32_t allowed) const {
  for (uint32_t g = oldest_; g + allowed < open_; ++g) {
    if (pending_[g % kMax] != 0) return false;
  }
  return true;
}

void SetState(Warp* warp, WarpState state, Cycle at) {
  SM89_ASSERT(at >= warp->since, "a warp's state began in the future");
  warp->stats->sm.*CounterOf(warp->state) += at - warp->since;
  warp->state = state;
  warp->since = at;
}

namespace {

// Raises `r` to what the slots of one operand ask for. `slack`: how much earlier than the slot's ready cycle
// the instruction may issue (0 for readers; a later writer only has to finish after the earlier one).
void Raise(const Warp& warp, const SlotRange& range, Cycle slack, Readiness* r) {
  for (uint32_t i = range.first; i < uint32_t{range.first} + range.count; ++i) {
    const Cycle ready = warp.register_ready[i];
    if (ready == kNever) {
      r->blocked = true;
      r->reason = warp.register_reason[i];
      return;
    }
    if (ready > r->ready + slack) {
      r->ready = ready - slack;
      r->reason = warp.register_reason[i];
    }
  }
}

bool ReadsPredicate(const SmInst& inst) {
  return inst.control == ControlOp::kBranch || inst.control == ControlOp::kExit;
}

}  // namespace

Readiness DependencesOf(const Warp& warp, Cycle now) {
  Readiness r{false, std::max(now + 1, warp.issue_after), warp.issue_after_reason};
  if (r.ready == now + 1) r.reason = WarpState::kWait;
  if (warp.wait_stores && warp.pending_stores != 0) return {true, 0, WarpState::kMembar};
  if (warp.wait_groups >= 0 && !warp.groups.Drained(static_cast<uint32_t>(warp.wait_groups))) {
    return {true, 0, WarpState::kLongScoreboard};
  }
  const SmInst& inst = warp.inst();
  if (inst.control == ControlOp::kLdgDepbar && !warp.groups.CanClose()) {
    return {true, 0, WarpState::kLongScoreboard};
  }
  for (uint32_t i = 0; i < inst.num_sources && !r.blocked; ++i) Raise(warp, inst.sources[i], 0, &r);
  const bool fixed = inst.unit != ExecUnit::kMem && inst.unit != ExecUnit::kTexture;
  const Cycle slack = fixed && inst.latency_cycles > 0 ? inst.latency_cycles - 1u : 0;
  for (uint32_t i = 0; i < inst.num_dests && !r.blocked; ++i) Raise(warp, inst.dests[i], slack, &r);
  if (!r.blocked && ReadsPredicate(inst) && warp.predicate_ready > r.ready) {
    r.ready = warp.predicate_ready;
    r.reason = WarpState::kWait;
  }
  return r;
}

void SetDestinations(Warp* warp, const SmInst& inst, Cycle ready, WarpState reason) {
  for (uint32_t d = 0; d < inst.num_dests; ++d) {
    const SlotRange& range = inst.dests[d];
    for (uint32_t i = range.first; i < uint32_t{range.first} + range.count; ++i) {
      warp->register_ready[i] = ready;
      warp->register_reason[i] = reason;
    }
  }
}

}  // namespace sm89
