// Fixed-capacity map from line numbers to small integers for the cycle loop: open addressing, linear probing,
// no heap use after construction. Look-ups never depend on the order of insertion in a way that shows.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/assert.h"

namespace sm89 {

class LineMap {
 public:
  static constexpr uint32_t kAbsent = ~0u;

  // Room for `capacity` entries at a load of at most one half.
  explicit LineMap(uint32_t capacity) {
    uint32_t size = 4;
    while (size < 2 * capacity) size *= 2;
    mask_ = size - 1;
    keys_.assign(size, 0);
    values_.assign(size, kAbsent);
    capacity_ = capacity;
  }

  uint32_t size() const { return size_; }

  uint32_t Find(uint64_t key) const {
    for (uint32_t i = Home(key);; i = (i + 1) & mask_) {
      if (values_[i] == kAbsent) return kAbsent;
      if (keys_[i] == key) return values_[i];
    }
  }

  // `key` must be absent.
  void Insert(uint64_t key, uint32_t value) {
    SM89_ASSERT(size_ < capacity_, "a line map is full");
    uint32_t i = Home(key);
    while (values_[i] != kAbsent) i = (i + 1) & mask_;
    keys_[i] = key;
    values_[i] = value;
    ++size_;
  }

  // `key` must be present.
  void Erase(uint64_t key) {
    uint32_t i = Home(key);
    while (values_[i] == kAbsent || keys_[i] != key) {
      SM89_ASSERT(values_[i] != kAbsent, "erasing an absent line");
      i = (i + 1) & mask_;
    }
    // Backward shift: close the gap so that no probe sequence is cut.
    for (uint32_t j = (i + 1) & mask_; values_[j] != kAbsent; j = (j + 1) & mask_) {
      const uint32_t home = Home(keys_[j]);
      if (((j - home) & mask_) >= ((j - i) & mask_)) {
        keys_[i] = keys_[j];
        values_[i] = values_[j];
        i = j;
      }
    }
    values_[i] = kAbsent;
    --size_;
  }

  void Clear() {
    if (size_ == 0) return;
    values_.assign(values_.size(), kAbsent);
    size_ = 0;
  }

 private:
  // Fibonacci hashing (Knuth): the golden ratio's bits spread strided lines evenly.
  uint32_t Home(uint64_t key) const {
    return static_cast<uint32_t>((key * 0x9E3779B97F4A7C15ull) >> 32) & mask_;
  }

  uint32_t mask_ = 0;
  uint32_t size_ = 0;
  uint32_t capacity_ = 0;
  std::vector<uint64_t> keys_;
  std::vector<uint32_t> values_;
};

}  // namespace sm89
