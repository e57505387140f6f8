// Timing wheel of small values: O(1) insertion and removal. Events of one cycle come in the order in which
// they came into the wheel's reach: a function of the insertions alone. Cycles beyond its span wait in a
// heap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/assert.h"
#include "sim/base/types.h"

namespace sm89 {

template <class T>
class EventWheel {
 public:
  explicit EventWheel(uint32_t span_log2 = 13)
      : mask_((1u << span_log2) - 1),
        heads_(mask_ + 1, kNil),
        tails_(mask_ + 1, kNil),
        words_((mask_ + 1) / 64, 0) {}

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }

  // `cycle` must not lie before the cycle of the last Pop.
  void Push(Cycle cycle, const T& value) {
    SM89_ASSERT(cycle >= now_, "an event in the past");
    ++size_;
    if (cycle - now_ > mask_) {
      far_.push_back({cycle, far_sequence_++, value});
      std::push_heap(far_.begin(), far_.end(), Later);
      return;
    }
    Link(cycle, value);
  }

  // Cycle of the next event; kNever when there is none.
  Cycle NextCycle() const {
    if (size_ == 0) return kNever;
    const Cycle near = NextNear();
    return far_.empty() ? near : std::min(near, far_.front().cycle);
  }

  // Takes the oldest event of the next cycle if that is before `limit`.
  bool Pop(Cycle limit, Cycle* cycle, T* value) {
    // Often there is more of the last event's cycle; far events of it have been linked.
    Cycle next = now_;
    if (size_ == 0 || heads_[now_ & mask_] == kNil || now_ >= limit) {
      next = NextCycle();
      if (next >= limit) return false;
      Advance(next);
    }
    const uint32_t slot = next & mask_;
    const uint32_t node = heads_[slot];
    SM89_ASSERT(node != kNil, "the wheel's occupancy bits disagree with its lists");
    heads_[slot] = nodes_[node].next;
    if (heads_[slot] == kNil) {
      tails_[slot] = kNil;
      words_[slot >> 6] &= ~(uint64_t{1} << (slot & 63));
    }
    *cycle = next;
    *value = nodes_[node].value;
    nodes_[node].next = free_;
    free_ = node;
    --size_;
    return true;
  }

 private:
  static constexpr uint32_t kNil = ~0u;
  struct Node {
    T value;
    uint32_t next;
  };
  struct Far {
    Cycle cycle;
    uint64_t sequence;
    T value;
  };
  static bool Later(const Far& a, const Far& b) {
    return a.cycle != b.cycle ? a.cycle > b.cycle : a.sequence > b.sequence;
  }

  void Link(Cycle cycle, const T& value) {
    uint32_t node = free_;
    if (node == kNil) {
      node = static_cast<uint32_t>(nodes_.size());
      nodes_.push_back({value, kNil});
    } else {
      free_ = nodes_[node].next;
      nodes_[node] = {value, kNil};
    }
    const uint32_t slot = cycle & mask_;
    if (tails_[slot] == kNil) {
      heads_[slot] = node;
      words_[slot >> 6] |= uint64_t{1} << (slot & 63);
    } else {
      nodes_[tails_[slot]].next = node;
    }
    tails_[slot] = node;
  }

  // Moves time on and brings far events that now fit into the wheel, in (cycle, sequence) order.
  void Advance(Cycle to) {
    now_ = to;
    while (!far_.empty() && far_.front().cycle - now_ <= mask_) {
      std::pop_heap(far_.begin(), far_.end(), Later);
      const Far far = far_.back();
      far_.pop_back();
      Link(far.cycle, far.value);
    }
  }

  Cycle NextNear() const {
    const uint32_t start = now_ & mask_;
    const uint32_t num_words = static_cast<uint32_t>(words_.size());
    uint32_t word = start >> 6;
    uint64_t bits = words_[word] & (~uint64_t{0} << (start & 63));
    for (uint32_t i = 0; i <= num_words; ++i) {
      if (bits != 0) {
        const uint32_t slot = (word << 6) | static_cast<uint32_t>(__builtin_ctzll(bits));
        return now_ + ((slot - start) & mask_);
      }
      word = word + 1 == num_words ? 0 : word + 1;
      bits = words_[word];
    }
    return kNever;
  }

  uint32_t mask_;
  Cycle now_ = 0;
  size_t size_ = 0;
  uint64_t far_sequence_ = 0;
  uint32_t free_ = kNil;
  std::vector<uint32_t> heads_, tails_;
  std::vector<uint64_t> words_;
  std::vector<Node> nodes_;
  std::vector<Far> far_;
};

}  // namespace sm89
