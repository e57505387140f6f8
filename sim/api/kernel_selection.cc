#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "sim/api/simulator.h"
#include "sim/base/fault.h"

namespace sm89 {
namespace {

constexpr size_t kMaxRanges = 1000;

absl::Status Malformed(const std::string& text, absl::string_view part, const std::string& why) {
  Fault fault;
  fault.field = "kernels";
  fault.value = std::string(part);
  fault.expected = "positions and ranges such as 1,3-5";
  fault.message = absl::StrCat("the kernel selection '", text, "' cannot be read: ", why);
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

}  // namespace

bool KernelSelection::Contains(uint32_t position) const {
  if (ranges.empty()) return true;
  for (const auto& [first, last] : ranges) {
    if (position >= first && position <= last) return true;
  }
  return false;
}

absl::StatusOr<KernelSelection> ParseKernelSelection(const std::string& text) {
  KernelSelection selection;
  if (text.empty()) return selection;
  for (const absl::string_view raw : absl::StrSplit(text, ',')) {
    const absl::string_view part = absl::StripAsciiWhitespace(raw);
    const std::vector<absl::string_view> ends = absl::StrSplit(part, absl::MaxSplits('-', 1));
    uint32_t first = 0;
    uint32_t last = 0;
    if (!absl::SimpleAtoi(ends.front(), &first) || !absl::SimpleAtoi(ends.back(), &last)) {
      return Malformed(text, part, "a part is not a number or a range");
    }
    if (first == 0) return Malformed(text, part, "positions count from 1");
    if (last < first) return Malformed(text, part, "a range ends before it begins");
    if (selection.ranges.size() == kMaxRanges) return Malformed(text, part, "more than 1000 parts");
    selection.ranges.emplace_back(first, last);
  }
  return selection;
}

}  // namespace sm89
