// The arithmetic of a slice's atomics: so many operations on different addresses a cycle, and one operation
// after the other on one address. Addresses are told apart by line, in a direct-mapped table of the lines
// last worked on: atomics on one line, or on two lines of one entry, wait for each other as if on one
// address.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sim/base/assert.h"
#include "sim/base/types.h"
#include "sim/config/gpu_config.h"

namespace sm89 {

inline constexpr uint64_t kHundredths = 100;  // of a cycle: what a slice's rates are kept in

class AtomicUnit {
 public:
  explicit AtomicUnit(const L2Config& config)
      : interval_(config.atomic_interval_x100),
        lanes_per_cycle_(config.atomic_lanes_per_cycle),
        latency_(config.atomic_latency_cycles) {
    SM89_ASSERT(lanes_per_cycle_ > 0, "an atomic unit works on something each cycle");
  }

  // Reserves the unit for `lanes` operations on `line`, `same` of them on one address, with data there at
  // `at`. Returns when the last result is.
  Cycle Reserve(Cycle at, uint64_t line, uint32_t lanes, uint32_t same) {
    SM89_ASSERT(same <= std::max(1u, lanes), "lanes on one address are some of all");
    Entry& entry = entries_[(line * 0x9E3779B97F4A7C15ull) >> 58];
    const uint64_t start = std::max({at * kHundredths, unit_free_, entry.free});
    const uint64_t passes = (std::max(1u, lanes) + lanes_per_cycle_ - 1) / lanes_per_cycle_;
    const uint64_t serial = uint64_t{std::max(1u, same)} * interval_;
    unit_free_ = start + passes * kHundredths;
    entry.free = start + serial;
    // A first operation's time is part of the latency.
    const uint64_t further = std::max((passes - 1) * kHundredths, serial - interval_);
    return (start + further + kHundredths - 1) / kHundredths + latency_;
  }

 private:
  struct Entry {
    uint64_t free = 0;  // when an address that falls here takes its next operation
  };

  uint64_t interval_;
  uint32_t lanes_per_cycle_;
  uint32_t latency_;
  uint64_t unit_free_ = 0;
  std::array<Entry, 64> entries_{};
};

}  // namespace sm89
