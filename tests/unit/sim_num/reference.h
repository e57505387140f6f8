// Independent references for the tests of sim/num: random operands with many edge cases, and rounding by
// search in a sorted table of all numbers of a small format.
#pragma once

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "sim/num/mode.h"

namespace sm89::num::testing {

__extension__ using Float128 = __float128;

inline float FloatOf(uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
inline uint32_t BitsOfFloat(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
inline double DoubleOf(uint64_t bits) {
  double value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
inline uint64_t BitsOfDouble(double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline int HostRound(Round round) {
  constexpr int kModes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
  return kModes[static_cast<int>(round)];
}

// Operands that hit zeros, infinities, NaN, subnormals, neighbouring exponents and short fractions often.
class Operands {
 public:
  explicit Operands(uint64_t seed) : engine_(seed) {}

  uint64_t Raw() { return engine_(); }
  uint32_t Single() {
    const auto bits = static_cast<uint32_t>(engine_());
    switch (engine_() % 8) {
      case 0:
        return bits & 0x80000000u;
      case 1:
        return (bits & 0x80000000u) | 0x7f800000u;
      case 2:
        return bits & 0x807fffffu;
      case 3:
        return bits & 0xff000000u;
      case 4:
        return (bits & 0x83ffffffu) | 0x3c000000u;
      case 5:
        return (bits & 0x83800fffu) | 0x3c000000u;
      case 6:
        return (bits & 0x80ffffffu) | 0x7e000000u;
      default:
        return bits;
    }
  }
  uint64_t Double() {
    const uint64_t bits = engine_();
    switch (engine_() % 4) {
      case 0:
        return bits;
      case 1:
        return bits & 0x800fffffffffffffu;
      case 2:
        return (bits & 0x800fffffffffffffu) | ((1000 + engine_() % 60) << 52);
      default:
        return (bits & 0x800fffff00000000u) | ((1000 + engine_() % 60) << 52);
    }
  }
  uint16_t Half() {
    const auto bits = static_cast<uint16_t>(engine_());
    switch (engine_() % 6) {
      case 0:
        return bits & 0x8000u;
      case 1:
        return bits & 0x83ffu;
      case 2:
        return (bits & 0x8000u) | 0x7c00u;
      default:
        return bits;
    }
  }

 private:
  std::mt19937_64 engine_;
};

// All finite non-negative numbers of a small format as (value, bits), ascending.
using Table = std::vector<std::pair<Float128, uint32_t>>;

inline Table MakeTable(int exponent_bits, int fraction_bits, uint32_t count) {
  Table table;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  for (uint32_t bits = 0; bits < count; ++bits) {
    const int exponent = static_cast<int>(bits >> fraction_bits);
    const uint32_t fraction = bits & ((1u << fraction_bits) - 1);
    const double significand = exponent == 0 ? fraction : fraction + (1u << fraction_bits);
    table.emplace_back(std::ldexp(significand, (exponent == 0 ? 1 : exponent) - bias - fraction_bits), bits);
  }
  return table;
}

// Rounds a finite value. `above` is the first pattern after the largest number (infinity), `step` the
// distance from the largest number to the next that the format would have.
inline uint32_t RoundByTable(const Table& table, Float128 value, bool negative, Round round) {
  const Float128 magnitude = value < 0 ? -value : value;
  const Float128 largest = table.back().first;
  const Float128 step = largest - table[table.size() - 2].first;
  const auto above = static_cast<uint32_t>(table.back().second + 1);
  size_t low = 0;
  size_t high = table.size();  // one past: infinity, standing for largest + step
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    (table[middle].first <= magnitude ? low : high) = middle;
  }
  const uint32_t high_bits = high < table.size() ? table[high].second : above;
  const Float128 high_value = high < table.size() ? table[high].first : largest + step;
  const Float128 to_low = magnitude - table[low].first;
  const Float128 to_high = high_value - magnitude;
  if (to_low == 0) return table[low].second;
  switch (round) {
    case Round::kRn:
      if (to_low == to_high) return (table[low].second & 1) == 0 ? table[low].second : high_bits;
      return to_low < to_high ? table[low].second : high_bits;
    case Round::kRm:
      return negative ? high_bits : table[low].second;
    case Round::kRp:
      return negative ? table[low].second : high_bits;
    case Round::kRz:
      return table[low].second;
  }
  return 0;
}

}  // namespace sm89::num::testing
