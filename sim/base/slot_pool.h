// Objects by index that come and go in the cycle loop: a freed one's place is taken again, the last freed
// first, so that the heap is used only while the number alive grows beyond what it ever was.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/assert.h"

namespace sm89 {

template <typename T>
class SlotPool {
 public:
  // Places `value`; references to others may move.
  uint32_t Add(T value) {
    if (free_.empty()) {
      slots_.push_back(std::move(value));
      return static_cast<uint32_t>(slots_.size() - 1);
    }
    const uint32_t index = free_.back();
    free_.pop_back();
    slots_[index] = std::move(value);
    return index;
  }
  // What it holds stays readable until its place is taken again.
  void Free(uint32_t index) {
    SM89_ASSERT(index < slots_.size() && free_.size() < slots_.size(), "a place that is taken is freed");
    free_.push_back(index);
  }

  T& operator[](uint32_t index) { return slots_[index]; }
  const T& operator[](uint32_t index) const { return slots_[index]; }
  // Places there ever were: alive and free.
  uint32_t size() const { return static_cast<uint32_t>(slots_.size()); }

 private:
  std::vector<T> slots_;
  std::vector<uint32_t> free_;
};

}  // namespace sm89
