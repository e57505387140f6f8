#include "sim/base/assert.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace sm89 {

void AssertionFailed(const char* expr, const char* file, int line, const char* why) {
  const std::string text = std::string("sm89 assertion failed: ") + expr + " at " + file + ":" +
                           std::to_string(line) + ": " + why + "\n";
  // write(2), not stdio: the text must reach the parent even when stdio's buffers are in any state.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
  std::abort();
}

}  // namespace sm89
