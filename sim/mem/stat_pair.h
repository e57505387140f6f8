// Where a unit counts: for the kernel that a request belongs to and for itself.
#pragma once

#include <cstdint>

namespace sm89 {

template <class Stats>
struct StatPair {
  Stats* kernel;
  Stats* unit;

  void Add(uint64_t Stats::*counter, uint64_t n) const {
    kernel->*counter += n;
    unit->*counter += n;
  }
};

}  // namespace sm89
