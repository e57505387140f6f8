// Splits of a warp: divergence, convergence barriers, exits.
#include <algorithm>

#include "sim/base/assert.h"
#include "sim/emu/machine.h"

namespace sm89::emu {

namespace {

void Insert(Warp& w, uint32_t at, const Split& split) {
  SM89_ASSERT(w.num_splits < w.splits.size(), "more splits than lanes");
  for (uint32_t i = w.num_splits; i > at; --i) w.splits[i] = w.splits[i - 1];
  w.splits[at] = split;
  ++w.num_splits;
}

void Remove(Warp& w, uint32_t at) {
  --w.num_splits;
  for (uint32_t i = at; i < w.num_splits; ++i) w.splits[i] = w.splits[i + 1];
}

uint32_t FirstLane(LaneMask mask) { return static_cast<uint32_t>(__builtin_ctz(mask)); }

// Lanes that `split` waits for and that can still come.
LaneMask Awaited(const Warp& w, const Split& split) {
  const LaneMask named =
      split.state == SplitState::kBsync ? w.armed[split.barrier][FirstLane(split.mask)] : split.wait;
  return (named | split.mask) & w.live;
}

bool Together(const Split& a, const Split& b) {
  return a.state == b.state && (a.state != SplitState::kBsync || (a.barrier == b.barrier && a.pc == b.pc));
}

// Joins the waiting splits at `at` with those at the same place into the topmost of them.
void Join(Warp& w, uint32_t at, LaneMask awaited) {
  Split joined = w.splits[at];
  for (uint32_t i = w.num_splits; i-- > 0;) {
    Split& s = w.splits[i];
    if (i == at || !Together(s, joined) || (s.mask & awaited) == 0) continue;
    if (s.pc != joined.pc) {  // WARPSYNC from different places: free, but not one group
      s.state = SplitState::kReady;
      continue;
    }
    joined.mask |= s.mask;
    s.mask = 0;
  }
  joined.state = SplitState::kReady;
  w.splits[at] = joined;
  for (uint32_t i = w.num_splits; i-- > 0;) {
    if (w.splits[i].mask == 0) Remove(w, i);
  }
}

// Frees every group that is complete.
void Release(Warp& w) {
  for (uint32_t i = w.num_splits; i-- > 0;) {
    const Split& s = w.splits[i];
    if (s.state != SplitState::kBsync && s.state != SplitState::kWarpsync) continue;
    const LaneMask awaited = Awaited(w, s);
    LaneMask here = 0;
    for (uint32_t k = 0; k < w.num_splits; ++k) {
      if (Together(w.splits[k], s)) here |= w.splits[k].mask;
    }
    if ((awaited & ~here) != 0) continue;
    Join(w, i, awaited);
    i = std::min(i + 1, w.num_splits);  // the list has changed: look again from here
    if (i == 0) return;
  }
}

}  // namespace

bool ChooseSplit(Warp& warp) {
  for (uint32_t i = warp.num_splits; i-- > 0;) {
    if (warp.splits[i].state != SplitState::kReady) continue;
    if (i + 1 != warp.num_splits) {
      const Split chosen = warp.splits[i];
      Remove(warp, i);
      Insert(warp, warp.num_splits, chosen);
      warp.run = 0;
    }
    return true;
  }
  return false;
}

void Branch(Exec& x, LaneMask taken, uint32_t target) {
  if (taken == 0) return;
  if (taken == x.active) {
    x.next_pc = target;
    // Other lanes of an indirect jump have split off already: the loop does not come by here again.
    if (x.stop) x.machine->split().pc = target;
    return;
  }
  Warp& w = *x.machine->warp;
  Split& s = x.machine->split();
  s.mask = x.active & ~taken;
  s.pc = x.next_pc;
  Insert(w, w.num_splits - 1, {.pc = target, .mask = taken});
  x.stop = true;
}

void ArmBarrier(Exec& x, uint32_t barrier, LaneMask lanes) {
  Warp& w = *x.machine->warp;
  w.used_armed = static_cast<uint16_t>(w.used_armed | (1u << barrier));
  std::array<LaneMask, kWarpSize>& armed = w.armed[barrier];
  if (lanes == kAllLanes) {
    armed.fill(lanes);
    return;
  }
  for (LaneMask m = lanes; m != 0; m &= m - 1) armed[FirstLane(m)] = lanes;
}

void PutToWait(Exec& x, LaneMask lanes, SplitState state, uint8_t barrier, LaneMask wait) {
  Warp& w = *x.machine->warp;
  const Split waiting{.pc = x.next_pc, .mask = lanes, .state = state, .barrier = barrier, .wait = wait};
  Split& s = x.machine->split();
  if (lanes == x.active) {
    s = waiting;
  } else {
    s.mask = x.active & ~lanes;
    s.pc = x.next_pc;
    Insert(w, w.num_splits - 1, waiting);
  }
  x.stop = true;
}

void WaitBarrier(Exec& x, uint32_t barrier, LaneMask lanes) {
  if (lanes == 0) return;
  Warp& w = *x.machine->warp;
  const LaneMask armed = w.armed[barrier][FirstLane(lanes)] & w.live;
  if ((armed & ~lanes) == 0 && lanes == x.active) return;  // all are here
  // Lanes armed as other groups wait as those groups.
  for (LaneMask rest = lanes; rest != 0;) {
    const LaneMask named = w.armed[barrier][FirstLane(rest)];
    LaneMask group = rest & (named | (rest & -rest));
    x.active = x.machine->split().mask;
    PutToWait(x, group, SplitState::kBsync, static_cast<uint8_t>(barrier), 0);
    rest &= ~group;
  }
  Release(w);
}

void BreakBarrier(Exec& x, uint32_t barrier, LaneMask lanes) {
  Warp& w = *x.machine->warp;
  std::array<LaneMask, kWarpSize>& armed = w.armed[barrier];
  LaneMask members = 0;
  for (LaneMask m = lanes; m != 0; m &= m - 1) members |= armed[FirstLane(m)];
  for (LaneMask m = members; m != 0; m &= m - 1) armed[FirstLane(m)] &= ~lanes;
  if (w.num_splits == 1) return;
  x.machine->split().pc = x.next_pc;
  x.stop = true;
  Release(w);
}

void WarpSync(Exec& x, LaneMask lanes, LaneMask named) {
  Warp& w = *x.machine->warp;
  const LaneMask awaited = (named | lanes) & w.live;
  if (awaited == x.active && lanes == x.active) return;
  PutToWait(x, lanes, SplitState::kWarpsync, 0, awaited);
  Release(w);
}

void ExitLanes(Exec& x, LaneMask lanes) {
  if (lanes == 0) return;
  Machine& m = *x.machine;
  Warp& w = *m.warp;
  w.live &= ~lanes;
  for (uint32_t used = w.used_armed; used != 0; used &= used - 1) {
    for (LaneMask& armed : w.armed[FirstLane(used)]) armed &= ~lanes;
  }
  Split& s = m.split();
  s.mask = x.active & ~lanes;
  s.pc = x.next_pc;
  if (s.mask == 0) Remove(w, w.num_splits - 1);
  x.stop = true;
  if (w.num_splits != 0) Release(w);
  if (w.live == 0) --m.cta->live_warps;
  CheckBarriers(m);
}

void GiveWay(Exec& x) {
  Warp& w = *x.machine->warp;
  w.run = 0;
  if (w.num_splits == 1) return;
  Split s = x.machine->split();
  s.pc = x.next_pc;
  Remove(w, w.num_splits - 1);
  Insert(w, 0, s);
  x.stop = true;
}

// A lane that took a lock waits at BSYNC for those of its warp that spin on it: an H200 runs such kernels to
// their end, the patent on convergence barriers lets yielding lanes leave them. After how many YIELDs is not
// known; 256 (assumption) keeps the groups of loops that yield a while together.
void NoteYield(Exec& x) {
  constexpr uint32_t kPatience = 256;
  Warp& w = *x.machine->warp;
  if (w.num_splits == 1 || ++w.yields < kPatience) return;
  w.yields = 0;
  LaneMask ready = 0;
  for (uint32_t i = 0; i < w.num_splits; ++i) {
    if (w.splits[i].state == SplitState::kReady) ready |= w.splits[i].mask;
  }
  for (uint32_t i = 0; i < w.num_splits; ++i) {
    const Split& s = w.splits[i];
    if (s.state != SplitState::kBsync) continue;
    LaneMask here = 0;
    for (uint32_t k = 0; k < w.num_splits; ++k) here |= Together(w.splits[k], s) ? w.splits[k].mask : 0;
    const LaneMask missing = Awaited(w, s) & ~here, group = Awaited(w, s) & here;
    if ((missing & ~ready) != 0) continue;  // others are blocked and may still come
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      w.armed[s.barrier][lane] &= (group >> lane & 1) != 0 ? ~missing : ~group;
    }
  }
  Release(w);
}

}  // namespace sm89::emu
