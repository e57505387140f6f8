// Fuzz target: any text is either refused with faults, or a profiler's CSV whose kernels have finite values,
// canonical names that are stable, and pairs with themselves.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/calibrate/kernel_name.h"
#include "sim/calibrate/match.h"
#include "sim/calibrate/measured.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sm89::calibrate;
  const auto measured = ReadMeasured({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!measured.ok()) {
    SM89_ASSERT(!sm89::FaultsOf(measured.status()).empty(), "a refused text has at least one fault");
    return 0;
  }
  SM89_ASSERT(!measured->kernels.empty(), "a file that is read has kernels");
  std::vector<SimulatedKernel> same;
  size_t single = 0;
  for (const MeasuredKernel& kernel : measured->kernels) {
    const std::string name = CanonicalName(kernel.name);
    SM89_ASSERT(name.find(' ') == std::string::npos, "a canonical name has no blanks");
    for (const auto& [metric, value] : kernel.metrics) SM89_ASSERT(std::isfinite(value), "values are finite");
    if (kernel.instances > 0 || !kernel.grid.has_value() || !kernel.block.has_value()) continue;
    same.push_back({.name = kernel.name, .grid = *kernel.grid, .block = *kernel.block});
    ++single;
  }
  if (single != measured->kernels.size()) return 0;
  const Matching matching = Match(measured->kernels, same);
  SM89_ASSERT(matching.pairs.size() == single, "kernels pair with themselves");
  return 0;
}
