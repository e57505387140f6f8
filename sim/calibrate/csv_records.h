// The rows of a profiler's CSV, out of a file that may hold other lines too: what the profiler or the
// application printed before, between and behind them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace sm89::calibrate {

inline constexpr size_t kFileBytesMax = 256 << 20;
inline constexpr size_t kColumnsMax = 16'384;
inline constexpr size_t kRowsMax = 2'000'000;
inline constexpr size_t kRowBytesMax = 4 << 20;

struct CsvRow {
  uint64_t line = 0;  // where it begins, from 1
  std::vector<std::string> fields;
};

enum class ProfilerTool { kNsightCompute, kNsightSystems };

struct CsvFile {
  ProfilerTool tool = ProfilerTool::kNsightCompute;
  char delimiter = ',';
  CsvRow header;
  std::vector<CsvRow> rows;
  std::vector<std::string> messages;  // the profiler's own lines: "==ERROR== ...", the first 20
  uint64_t skipped_lines = 0;         // behind the header: neither a row nor the profiler's
};

// One record's fields. `record` may span lines.
std::vector<std::string> SplitRecord(std::string_view record, char delimiter);

// Finds the header by its column names ("ID" with "Kernel Name", or "Name" with a duration), whatever stands
// before it. INVALID_ARGUMENT "no measurements" without one, quoting the profiler's errors;
// RESOURCE_EXHAUSTED beyond the bounds. `file` stands in messages.
absl::StatusOr<CsvFile> ReadCsv(std::string_view text, const std::string& file);

}  // namespace sm89::calibrate
