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

void WarpScheduler::Sleep(uint32_t w, Cycle now, Cycle cycle) {
  SM89_ASSERT(cycle > now, "sleeping into the past");
  candidates_ &= ~Bit(w);
  wake_[w] = cycle;
  const Cycle slot = std::min(cycle, now + kWheel - 1) % kWheel;
  wheel_[slot] |= Bit(w);
  occupied_ |= uint64_t{1} << slot;
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

uint32_t WarpScheduler::Order(std::array<uint8_t, kMaxWarps>* order) const {
  uint32_t n = 0;
  if (policy_ != SchedulerPolicy::kRoundRobin && last_ < kMaxWarps && (candidates_ & Bit(last_)) != 0) {
    (*order)[n++] = static_cast<uint8_t>(last_);
  }
  if (policy_ == SchedulerPolicy::kRoundRobin) {
    const uint32_t first = last_ < kMaxWarps ? (last_ + 1) % kMaxWarps : 0;
    for (uint32_t i = 0; i < kMaxWarps; ++i) {
      const uint32_t w = (first + i) % kMaxWarps;
      if ((candidates_ & Bit(w)) != 0) (*order)[n++] = static_cast<uint8_t>(w);
    }
    return n;
  }
  for (uint32_t i = 0; i < num_warps_; ++i) {
    const uint8_t w = policy_ == SchedulerPolicy::kGreedyYoungest ? by_age_[i] : by_age_[num_warps_ - 1 - i];
    if ((candidates_ & Bit(w)) != 0 && (n == 0 || w != (*order)[0])) (*order)[n++] = w;
  }
  return n;
}

}  // namespace sm89
