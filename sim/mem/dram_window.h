// The requests of one direction (reads or writes) among which a DRAM channel chooses: the oldest 64 by age,
// with one bit a request in the masks that the choice needs.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "sim/base/assert.h"
#include "sim/base/types.h"
#include "sim/mem/dram_job.h"

namespace sm89 {

class DramWindow {
 public:
  static constexpr uint32_t kCapacity = 64;
  static constexpr uint32_t kMaxGroups = 8;

  uint32_t size() const { return size_; }
  uint64_t group(uint32_t g) const { return groups_[g]; }
  uint8_t bank(uint32_t position) const { return banks_[position]; }
  DramJob& job(uint32_t position) { return jobs_[slots_[position]]; }
  const DramJob& job(uint32_t position) const { return jobs_[slots_[position]]; }

  void Push(const DramJob& job, uint32_t group) {
    SM89_ASSERT(size_ < kCapacity, "a DRAM window is full");
    const auto slot = static_cast<uint8_t>(__builtin_ctzll(free_slots_));
    free_slots_ &= free_slots_ - 1;
    jobs_[slot] = job;
    slots_[size_] = slot;
    banks_[size_] = static_cast<uint8_t>(job.bank);
    groups_[group] |= uint64_t{1} << size_;
    ++size_;
  }

  // Closes the gap at `position` in `mask` and in the window's own masks.
  void Remove(uint32_t position, uint64_t* mask) {
    SM89_ASSERT(position < size_, "position in a DRAM window");
    free_slots_ |= uint64_t{1} << slots_[position];
    const uint32_t behind = size_ - position - 1;
    std::memmove(&slots_[position], &slots_[position + 1], behind);
    std::memmove(&banks_[position], &banks_[position + 1], behind);
    for (uint64_t& group : groups_) group = Close(group, position);
    *mask = Close(*mask, position);
    --size_;
  }

  // Requests of a bank, one bit a position.
  uint64_t OfBank(uint32_t bank) const {
    uint64_t mask = 0;
    for (uint32_t i = 0; i < size_; ++i) mask |= uint64_t{banks_[i] == bank} << i;
    return mask;
  }

 private:
  static uint64_t Close(uint64_t mask, uint32_t position) {
    const uint64_t below = (uint64_t{1} << position) - 1;
    return (mask & below) | ((mask >> 1) & ~below);
  }

  uint32_t size_ = 0;
  uint64_t free_slots_ = ~uint64_t{0};
  std::array<uint64_t, kMaxGroups> groups_{};
  // One byte more than positions, so that Remove may name the byte behind the last.
  std::array<uint8_t, kCapacity + 1> slots_{};
  std::array<uint8_t, kCapacity + 1> banks_{};
  std::array<DramJob, kCapacity> jobs_{};
};

}  // namespace sm89
