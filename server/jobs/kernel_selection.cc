#include "server/jobs/kernel_selection.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

using Range = std::pair<uint32_t, uint32_t>;

absl::Status Refuse(const std::string& part, uint32_t kernel_count, const std::string& message) {
  Fault fault;
  fault.field = "kernels";
  fault.value = part;
  fault.expected = absl::StrCat("positions or ranges within 1..", kernel_count, ", like 1,3-5");
  fault.message = message;
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

bool ParsePosition(absl::string_view text, uint32_t* value) {
  text = absl::StripAsciiWhitespace(text);
  // SimpleAtoi would take signs and inner blanks.
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit) &&
         absl::SimpleAtoi(text, value);
}

absl::StatusOr<Range> ParseRange(absl::string_view part, uint32_t kernel_count) {
  const std::string shown(absl::StripAsciiWhitespace(part));
  const std::vector<absl::string_view> ends = absl::StrSplit(part, '-');
  Range range;
  if (ends.size() > 2 || !ParsePosition(ends.front(), &range.first) ||
      !ParsePosition(ends.back(), &range.second)) {
    return Refuse(shown, kernel_count, "not a kernel position or range");
  }
  if (range.first == 0 || range.second > kernel_count) {
    return Refuse(shown, kernel_count, absl::StrCat("the trace has kernels 1 to ", kernel_count));
  }
  if (range.first > range.second) return Refuse(shown, kernel_count, "the range runs backwards");
  return range;
}

}  // namespace

absl::StatusOr<std::string> CanonicalKernelSelection(const std::string& text, uint32_t kernel_count) {
  if (text.size() > kKernelSelectionBytesMax) {
    return Refuse(absl::StrCat(text.size(), " bytes"), kernel_count,
                  absl::StrCat("the selection is longer than ", kKernelSelectionBytesMax, " bytes"));
  }
  if (absl::StripAsciiWhitespace(text).empty()) return std::string();
  std::vector<Range> ranges;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    ASSIGN_OR_RETURN(const Range range, ParseRange(part, kernel_count));
    ranges.push_back(range);
  }
  std::sort(ranges.begin(), ranges.end());
  std::vector<Range> merged;
  for (const Range& r : ranges) {
    if (!merged.empty() && r.first <= merged.back().second + 1) {
      merged.back().second = std::max(merged.back().second, r.second);
    } else {
      merged.push_back(r);
    }
  }
  if (merged.size() == 1 && merged.front() == Range{1, kernel_count}) return std::string();
  std::string canonical;
  for (const auto& [first, last] : merged) {
    absl::StrAppend(&canonical, canonical.empty() ? "" : ",", first);
    if (last != first) absl::StrAppend(&canonical, "-", last);
  }
  return canonical;
}

}  // namespace sm89
