// A number with its noun.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "sim/base/strings.h"

namespace sm89 {

// "1 cycle", "2 cycles".
inline std::string Counted(uint64_t count, std::string_view noun) {
  return absl::StrCat(count, " ", Av(noun), count == 1 ? "" : "s");
}

}  // namespace sm89
