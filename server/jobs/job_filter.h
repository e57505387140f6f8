// The filter and page-token syntax of ListJobs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/jobs/job_types.h"

namespace sm89 {

struct JobFilter {
  std::optional<JobState> state;
  std::string trace;  // id; empty = any
  std::string config;
  std::vector<std::pair<std::string, std::string>> labels;
};
inline constexpr size_t kFilterLabelsMax = 4;
inline constexpr size_t kFilterBytesMax = 2048;

// "state=RUNNING AND trace=traces/x AND config=configs/y AND label.k=v"; values with blanks in double quotes.
// INVALID_ARGUMENT names the term that does not parse.
absl::StatusOr<JobFilter> ParseJobFilter(const std::string& text);

// A page token stands for "older than job number N, for this filter".
std::string MakePageToken(uint64_t before_number, const std::string& filter);
// INVALID_ARGUMENT for a token that is not ours or that was made for another filter.
absl::StatusOr<uint64_t> ParsePageToken(const std::string& token, const std::string& filter);

}  // namespace sm89
