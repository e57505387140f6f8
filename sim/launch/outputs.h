// Results of launches: a summary of each output buffer, its JSON, and the comparison with a reference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/launch/launch.h"

namespace sm89::launch {

inline constexpr uint64_t kHeadElements = 16;
inline constexpr uint64_t kSampleElements = 64;

// Elements as numbers: floats as they are, integers up to 64 bits exactly.
using Number = std::variant<int64_t, uint64_t, double>;

struct ClockSummary {  // of a buffer called "clocks"
  uint64_t min = 0;
  uint64_t max = 0;
  double median = 0;
};

struct OutputSummary {
  std::string name;
  DataType type = DataType::kU32;
  uint64_t count = 0;
  std::string sha256;
  Number sum;                  // floats: added in double, in order; integers: int64, wrapping
  std::vector<Number> head;    // first 16
  std::vector<Number> sample;  // floats: up to 64, count / 64 apart
  std::optional<ClockSummary> clocks;
};

OutputSummary Summarise(const BufferSpec& buffer, const std::vector<uint8_t>& bytes);

struct LaunchResult {
  std::string id;
  std::string kernel;
  std::vector<OutputSummary> outputs;
};

// {"cases":[{"id","kernel","outputs":{name:{"dtype","count","sha256","sum","head","sample"}}}]}.
std::string ResultsToJson(const std::vector<LaunchResult>& results);

// One JSON object of an output, for documents that carry more than the above.
std::string OutputToJson(const OutputSummary& output);

struct ReferenceOutput {
  std::string name;
  std::string sha256;
  std::optional<double> sum;
  std::vector<double> head;
  std::vector<double> sample;
};

struct ReferenceCase {
  std::string id;
  std::vector<ReferenceOutput> outputs;
};

// A reference of recorded runs: {"<id>": {"outputs": {...}}} or the shape of ResultsToJson. Other keys are
// ignored: recordings carry times and resources too.
absl::StatusOr<std::vector<ReferenceCase>> ParseReference(std::string_view text, const std::string& name);

// OK when every output that the reference has agrees: kExact by digest, kApprox on sum, head and sample
// within |d| <= 1e-3 max(|reference|, 1e-3); kNone compares nothing. Else DATA_LOSS with one fault a
// difference.
absl::Status CompareWithReference(const LaunchResult& result, Compare compare,
                                  const ReferenceCase& reference);

}  // namespace sm89::launch
