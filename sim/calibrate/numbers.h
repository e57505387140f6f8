// Numbers and units as profilers print them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "sim/calibrate/csv_records.h"

namespace sm89::calibrate {

// How a file writes numbers; one for the whole file, since "1.234" alone could be either.
enum class NumberStyle {
  kPoint,  // 1,234,567.5
  kComma,  // 1.234.567,5
};

// What a file's cells say about its style: cells with both signs, with one sign several times, or with one
// sign that is not followed by exactly three digits settle it.
class NumberStyleVote {
 public:
  void Add(std::string_view cell, uint64_t line);
  // INVALID_ARGUMENT naming two lines that contradict each other. Without evidence: kPoint.
  absl::StatusOr<NumberStyle> Decide(const std::string& file) const;

 private:
  uint64_t point_line_ = 0, comma_line_ = 0;  // first line for each style; 0 = none
};

// Nothing for "n/a", "nan", an empty cell, infinity and what is no number in this style.
std::optional<double> ReadNumber(std::string_view cell, NumberStyle style);

// Whether a cell says that there is no figure: "n/a", "no data", "nan", "inf", "-", nothing.
bool IsAbsent(std::string_view cell);

// "ns", "usecond" ...
bool IsTimeUnit(std::string_view unit);

// What a value in `unit` is multiplied by to be in base units: bytes, ns, Hz, one, and each per second.
// Prefixes are decimal, as the profilers': "Mbyte" = 10^6. Units that are not known ("cycle", "inst", "%")
// are base units.
double UnitScale(std::string_view unit);

}  // namespace sm89::calibrate
