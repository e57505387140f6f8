// Sizes in whole granules.
#pragma once

#include <type_traits>

namespace sm89 {

// The least multiple of `granule` (not 0) that is not below `value`; wraps like T.
template <typename T>
constexpr T RoundUp(T value, std::type_identity_t<T> granule) {
  return (value + granule - 1) / granule * granule;
}

}  // namespace sm89
