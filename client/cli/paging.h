// Reading a paged list up to a number of rows.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"

namespace sm89::client {

// `fetch(request)` gives one page, `take(page)` stores it and answers its number of rows. Stops after `limit`
// rows (page sizes are chosen so that no more are fetched) or at the last page.
template <typename Request, typename Fetch, typename Take>
absl::Status ReadPages(Request request, uint32_t limit, Fetch fetch, Take take) {
  constexpr uint32_t kPageRows = 500;
  uint32_t rows = 0;
  // A page may come back short, or even empty with a token; the number of pages is bounded all the same.
  for (uint32_t pages = 0; rows < limit && pages < limit + 1000; ++pages) {
    request.set_page_size(static_cast<int32_t>(std::min(kPageRows, limit - rows)));
    const auto page = fetch(request);
    if (!page.ok()) return page.status();
    rows += static_cast<uint32_t>(take(*page));
    if (page->next_page_token().empty()) break;
    request.set_page_token(page->next_page_token());
  }
  return absl::OkStatus();
}

}  // namespace sm89::client
