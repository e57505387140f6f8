// A resource with one user a cycle. It is not booked in the order of the cycles: an instruction that waits in
// one sub-core books a later cycle before another sub-core's books an earlier one, which may still be free.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sim/base/types.h"

namespace sm89 {

class Timeline {
 public:
  struct Booking {
    Cycle begin = 0;  // first cycle
    Cycle end = 0;    // behind the last one
  };

  // Takes the first `cycles` (at least one) free cycles from cycle `at` on. They follow each other unless
  // others are booked in between: in fact those would come later by what is taken in front of them, so that
  // no cycle is lost; their users, who know their times already, keep them.
  Booking Take(Cycle at, Cycle cycles) {
    uint32_t gap = count_;
    while (gap > 0 && gaps_[gap - 1].end > at) --gap;
    Booking booking{kNever, at};
    while (cycles > 0 && gap < count_) {
      const Cycle begin = std::max(at, gaps_[gap].begin);
      const Cycle end = std::min(gaps_[gap].end, begin + cycles);
      booking = {std::min(booking.begin, begin), end};
      cycles -= end - begin;
      gap = Fill(gap, begin, end);
    }
    if (cycles == 0) return booking;
    const Cycle begin = std::max(at, free_);
    if (begin > free_) Insert(count_, {free_, begin});
    free_ = begin + cycles;
    return {std::min(booking.begin, begin), free_};
  }

 private:
  // Free cycles in front of `free_`, from the one booked on. The oldest are forgotten: more gaps than these
  // lie in the past, or belong to queues longer than any GPU has (assumption).
  static constexpr uint32_t kMaxGaps = 64;
  struct Gap {
    Cycle begin = 0;
    Cycle end = 0;
  };

  void Insert(uint32_t place, Gap gap) {
    if (count_ == kMaxGaps) {
      constexpr uint32_t kForgotten = kMaxGaps / 2;
      std::copy(gaps_.begin() + kForgotten, gaps_.end(), gaps_.begin());
      count_ -= kForgotten;
      if (place < kForgotten) return;
      place -= kForgotten;
    }
    std::copy_backward(gaps_.begin() + place, gaps_.begin() + count_, gaps_.begin() + count_ + 1);
    gaps_[place] = gap;
    ++count_;
  }
  // Books cycles of a gap; returns the place of the next gap.
  uint32_t Fill(uint32_t place, Cycle begin, Cycle end) {
    const Gap gap = gaps_[place];
    if (gap.begin == begin && gap.end == end) {
      std::copy(gaps_.begin() + place + 1, gaps_.begin() + count_, gaps_.begin() + place);
      --count_;
      return place;
    }
    if (gap.begin == begin) {
      gaps_[place].begin = end;
    } else {
      gaps_[place].end = begin;
      if (gap.end != end) Insert(place + 1, {end, gap.end});
    }
    return place + 1;
  }

  std::array<Gap, kMaxGaps> gaps_{};  // ascending
  uint32_t count_ = 0;
  Cycle free_ = 0;  // everything from here on is
};

}  // namespace sm89
