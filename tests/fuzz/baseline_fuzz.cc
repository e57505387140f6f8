// Fuzz target: any text is either refused, or a baseline that is written as text that reads back to the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/baseline/baseline.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sm89::baseline;
  const auto baseline = Parse({reinterpret_cast<const char*>(data), size}, "fuzz.json");
  if (!baseline.ok()) {
    SM89_ASSERT(!sm89::FaultsOf(baseline.status()).empty(), "a refused text has at least one fault");
    return 0;
  }
  const std::string text = ToJson(*baseline, "fuzz.json");
  const auto again = Parse(text, "fuzz.json");
  SM89_ASSERT(again.ok(), "what is written can be read");
  SM89_ASSERT(ToJson(*again, "fuzz.json") == text, "and written again alike");
  for (const RecordedRun& run : baseline->runs) {
    const Comparison comparison = Compare(run, run.measured, {}, "fuzz.json");
    SM89_ASSERT(comparison.error.ok() && comparison.out_of_band() == 0, "a run is in the band of itself");
  }
  return 0;
}
