// Page tokens: opaque to clients, bound to the listing they came from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace sm89 {

// `scope` holds everything that must not change between pages: collection and filter, not the page size.
// Empty for position 0 (no further page).
std::string MakePageToken(std::string_view scope, int64_t position);
// 0 for the empty token. INVALID_ARGUMENT for one that was changed or came from another listing.
absl::StatusOr<int64_t> ReadPageToken(std::string_view scope, std::string_view token);

}  // namespace sm89
