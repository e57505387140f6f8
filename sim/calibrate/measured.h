// What a profiler measured: the CSV of ncu (raw page, or one row a metric) or of nsys stats.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace sm89::calibrate {

inline constexpr size_t kLaunchesMax = 200'000;

// Names that both sides use, those of Nsight Compute.
inline constexpr char kCyclesMetric[] = "gpc__cycles_elapsed.max";
inline constexpr char kDurationMetric[] = "gpu__time_duration.sum";  // ns

using Dimensions = std::array<uint64_t, 3>;

struct MeasuredKernel {
  std::string name;  // as printed
  std::optional<Dimensions> grid, block;
  uint64_t line = 0;       // first row in the file
  uint64_t instances = 0;  // 0: one launch; else the values are means over so many (nsys' summaries)
  // By Nsight Compute's name, in base units (UnitScale). Absent values ("n/a") have no entry.
  std::map<std::string, double> metrics;
};

struct Measured {
  std::string file;
  std::string format;  // "ncu raw page", "ncu metrics", "nsys gpu_trace", "nsys gpu_kern_sum"
  std::vector<MeasuredKernel> kernels;
  uint64_t copies = 0;  // memory operations between the kernels
  std::vector<std::string> notes;
};

// Names of the details page in those of the raw page ("Elapsed Cycles" -> gpc__cycles_elapsed.max), where a
// simulated figure stands against them; else `name` itself. `unit` tells two metrics of one name apart.
std::string MetricName(std::string_view name, std::string_view unit);

// `file` stands in messages. INVALID_ARGUMENT for a text without measurements.
absl::StatusOr<Measured> ReadMeasured(std::string_view text, const std::string& file);
// Reads the file; NOT_FOUND when there is none.
absl::StatusOr<Measured> ReadMeasuredFile(const std::string& file);

}  // namespace sm89::calibrate
