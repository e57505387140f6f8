// The packaged Abseil has its own string_view type that neither converts to nor from the standard one.
// Our interfaces speak std::string_view; these two helpers are the only bridge.
#pragma once

#include <string_view>

#include "absl/strings/string_view.h"

namespace sm89 {

inline absl::string_view Av(std::string_view s) { return {s.data(), s.size()}; }
inline std::string_view Sv(absl::string_view s) { return {s.data(), s.size()}; }

}  // namespace sm89
