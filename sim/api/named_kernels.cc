#include "sim/api/named_kernels.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace sm89 {

std::string NamedKernels(const std::vector<std::string>& names, const std::string& text) {
  constexpr size_t kShown = 10;
  const auto shown = names.begin() + static_cast<ptrdiff_t>(std::min(names.size(), kShown));
  std::string list = absl::StrJoin(names.begin(), shown, ", ");
  if (names.size() > kShown) absl::StrAppend(&list, " and ", names.size() - kShown, " more");
  return absl::StrCat(names.size(), names.size() == 1 ? " kernel (" : " kernels (", list, ")", text);
}

}  // namespace sm89
