#include "sim/sm/warp.h"

#include <algorithm>

#include "sim/base/assert.h"

namespace sm89 {
namespace {

void Count(Warp* warp, WarpState state, Cycle cycles) {
  warp->stats->sm.*CounterOf(state) += cycles;
  if (warp->profile_row != nullptr) warp->profile_row->cycles[static_cast<size_t>(state)] += cycles;
}

}  // namespace

bool DependenceCounters::Lower(uint32_t counter) {
  SM89_ASSERT(value_[counter] > 0, "a dependence counter below 0");
  const uint16_t value = --value_[counter];
  if (value == kMax - 2) nearly_full_ &= ~Bit(counter);
  if (value == 0) nonzero_ &= ~Bit(counter);
  return value == 0 || value >= kMax - 2;
}

uint8_t DependenceCounters::FullOf(uint8_t raised, bool twice) const {
  uint8_t full = 0;
  for (uint32_t counter = 0; counter < kNumDependenceCounters; ++counter) {
    if ((raised >> counter & 1) != 0 && value_[counter] + (twice ? 2 : 1) > kMax) full |= Bit(counter);
  }
  return full;
}

uint8_t DependenceCounters::PendingBefore(uint8_t pending) const {
  uint8_t seen = 0;
  for (uint32_t counter = 0; counter < kNumDependenceCounters; ++counter) {
    if ((pending >> counter & 1) != 0 && value_[counter] > raised_[counter]) seen |= uint8_t{1} << counter;
  }
  return seen;
}

void RefusedAccess::Keep(const CoalescedAccess& access) {
  waits = true;
  num_lines = access.num_lines;
  shared_passes = access.shared_passes;
  shared_passes_min = access.shared_passes_min;
  lines.assign(access.global().begin(), access.global().end());
  lines.insert(lines.end(), access.local().begin(), access.local().end());
}

void RefusedAccess::Restore(CoalescedAccess* access) const {
  access->num_lines = num_lines;
  access->num_local_lines = static_cast<uint32_t>(lines.size()) - num_lines;
  access->shared_passes = shared_passes;
  access->shared_passes_min = shared_passes_min;
  std::copy(global().begin(), global().end(), access->lines.begin());
  std::copy(local().begin(), local().end(), access->local_lines.begin());
}

void AsyncCopyGroups::Close(uint8_t counter) {
  SM89_ASSERT(CanClose(), "too many async-copy groups under way");
  counter_[open_ % kMax] = counter;
  ++open_;
}

void AsyncCopyGroups::Complete(uint32_t group) {
  uint16_t& pending = pending_[group % kMax];
  SM89_ASSERT(pending > 0, "an async copy completed twice");
  --pending;
}

bool AsyncCopyGroups::TakeDone(uint8_t* counter) {
  if (oldest_ == open_ || pending_[oldest_ % kMax] != 0) return false;
  *counter = counter_[oldest_ % kMax];
  ++oldest_;
  return true;
}

void SetState(Warp* warp, WarpState state, Cycle at) {
  SM89_ASSERT(at >= warp->since, "a warp's state began in the future");
  Cycle from = warp->since;
  if (warp->hold_until > from) {
    const Cycle held = std::min(at, warp->hold_until);
    Count(warp, warp->hold_reason, held - from);
    from = held;
  }
  Count(warp, warp->state, at - from);
  warp->state = state;
  warp->since = at;
}

}  // namespace sm89
