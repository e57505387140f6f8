// A target with a planted bug that only a mutation of its corpus meets: it tests the fuzzing set-up.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/base/assert.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  SM89_ASSERT(text.substr(0, 4) != "bird", "the planted bug");
  return 0;
}
