#include "sim/sm/warp_scheduler.h"

#include <algorithm>
#include <bit>

#include "sim/base/assert.h"

namespace sm89 {

void WarpScheduler::Add(uint32_t w) {
  SM89_ASSERT(num_warps_ < kMaxWarps && w < kMaxWarps, "too many warps in a sub-core");
  std::copy_backward(by_age_.begin(), by_age_.begin() + num_warps_, by_age_.begin() + num_warps_ + 1);
  by_age_[0] = static_cast<uint8_t>(w);
  ++num_warps_;
}

void WarpScheduler::Remove(uint32_t w) {
  const auto end = by_age_.begin() + num_warps_;
  const auto it = std::find(by_age_.begin(), end, static_cast<uint8_t>(w));
  SM89_ASSERT(it != end, "removing a warp that is not here");
  std::copy(it + 1, end, it);
  --num_warps_;
  candidates_ &= ~Bit(w);
  if (last_ == w) last_ = kMaxWarps;
}

Cycle WarpScheduler::Sleep(uint32_t w, Cycle now, Cycle cycle) {
  SM89_ASSERT(cycle > now, "sleeping into the past");
  candidates_ &= ~Bit(w);
  wake_[w] = cycle;
  const Cycle due = std::min(cycle, now + kWheel - 1);
  wheel_[due % kWheel] |= Bit(w);
  occupied_ |= uint64_t{1} << (due % kWheel);
  return due;
}

uint32_t WarpScheduler::WakeDue(Cycle now) {
  const uint32_t slot = now % kWheel;
  uint32_t due = wheel_[slot];
  if (due == 0) return 0;
  wheel_[slot] = 0;
  occupied_ &= ~(uint64_t{1} << slot);
  uint32_t awake = 0;
  for (; due != 0; due &= due - 1) {
    const auto w = static_cast<uint32_t>(std::countr_zero(due));
    if (wake_[w] > now) {
      Sleep(w, now, wake_[w]);
    } else {
      awake |= Bit(w);
    }
  }
  candidates_ |= awake;
  return awake;
}

Cycle WarpScheduler::NextWake(Cycle now) const {
  if (occupied_ == 0) return kNever;
  const int shift = static_cast<int>((now + 1) % kWheel);
  return now + 1 + static_cast<Cycle>(std::countr_zero(std::rotr(occupied_, shift)));
}

uint32_t WarpScheduler::Pick(uint32_t among) const {
  if (policy_ == SchedulerPolicy::kRoundRobin) {
    const int shift = static_cast<int>(last_ < kMaxWarps ? (last_ + 1) % kMaxWarps : 0);
    return (static_cast<uint32_t>(std::countr_zero(std::rotr(among, shift))) + static_cast<uint32_t>(shift)) %
           kMaxWarps;
  }
  if (last_ < kMaxWarps && (among & Bit(last_)) != 0) return last_;
  if (policy_ == SchedulerPolicy::kGreedyYoungest) {
    for (uint32_t i = 0; i < num_warps_; ++i) {
      if ((among & Bit(by_age_[i])) != 0) return by_age_[i];
    }
  } else {
    for (uint32_t i = num_warps_; i-- > 0;) {
      if ((among & Bit(by_age_[i])) != 0) return by_age_[i];
    }
  }
  SM89_ASSERT(false, "a candidate that is not a warp of this sub-core");
}

}  // namespace sm89
