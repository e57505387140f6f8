// Queue in a ring that grows by doubling, so that a run soon takes no memory for it any more.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/assert.h"

namespace sm89 {

template <class T>
class Ring {
 public:
  explicit Ring(uint32_t capacity = 16) {
    uint32_t size = 4;
    while (size < capacity) size *= 2;
    items_.resize(size);
  }

  bool empty() const { return size_ == 0; }
  uint32_t size() const { return size_; }

  // `i` counts from the front.
  const T& operator[](uint32_t i) const { return items_[(head_ + i) & (Capacity() - 1)]; }
  T& operator[](uint32_t i) { return items_[(head_ + i) & (Capacity() - 1)]; }
  const T& front() const { return items_[head_]; }

  void push_back(const T& item) {
    if (size_ == Capacity()) Grow();
    ++size_;
    (*this)[size_ - 1] = item;
  }

  void pop_front() {
    SM89_ASSERT(size_ > 0, "taking from an empty ring");
    head_ = (head_ + 1) & (Capacity() - 1);
    --size_;
  }

 private:
  uint32_t Capacity() const { return static_cast<uint32_t>(items_.size()); }

  void Grow() {
    std::vector<T> larger(items_.size() * 2);
    for (uint32_t i = 0; i < size_; ++i) larger[i] = (*this)[i];
    items_ = std::move(larger);
    head_ = 0;
  }

  std::vector<T> items_;
  uint32_t head_ = 0;
  uint32_t size_ = 0;
};

}  // namespace sm89
