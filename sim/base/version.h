// What a result names as the model that made it.
#pragma once

#include <string_view>

namespace sm89 {

// Product version (semantic versioning).
inline constexpr std::string_view kProductVersion = "0.1.0";
// Raised whenever any simulated number may change for some input; part of every result and cache key.
inline constexpr std::string_view kModelVersion = "0.1.0-m3";

}  // namespace sm89
