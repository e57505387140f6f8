#include "server/service/paging.h"

#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/service/validation.h"
#include "sim/base/digest.h"
#include "sim/base/strings.h"

namespace sm89 {
namespace {

constexpr size_t kTokenBytesMax = 200;

// Against mistakes, not against forgery: a position is nothing secret.
std::string CheckOf(std::string_view scope, int64_t position) {
  return Sha256Hex(absl::StrCat("1\n", Av(scope), "\n", position)).substr(0, 16);
}

}  // namespace

std::string MakePageToken(std::string_view scope, int64_t position) {
  if (position == 0) return "";
  return absl::WebSafeBase64Escape(absl::StrCat("1:", position, ":", CheckOf(scope, position)));
}

absl::StatusOr<int64_t> ReadPageToken(std::string_view scope, std::string_view token) {
  if (token.empty()) return 0;
  std::string text;
  int64_t position = 0;
  if (token.size() <= kTokenBytesMax && absl::WebSafeBase64Unescape(Av(token), &text)) {
    const std::vector<std::string> parts = absl::StrSplit(text, ':');
    if (parts.size() == 3 && parts[0] == "1" && absl::SimpleAtoi(parts[1], &position) && position > 0 &&
        parts[2] == CheckOf(scope, position)) {
      return position;
    }
  }
  return FieldError("page_token", token, "next_page_token of a call with the same filter",
                    "the page token does not belong to this listing");
}

}  // namespace sm89
