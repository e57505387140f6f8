// Rows of ../shared/sass/listing.tsv.xz: words with the vendor's text. Empty where the file is absent.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "sim/sass/instruction.h"
#include "tests/support/xz_file.h"

namespace sm89::testing {

inline constexpr char kSassFolder[] = SM89_SOURCE_DIR "/../shared/sass";
inline constexpr char kSiliconFolder[] = SM89_SOURCE_DIR "/../shared/silicon";

struct ListingRow {
  std::string cubin, function;
  uint64_t offset = 0;
  sass::Word128 word;
  std::string text;

  uint32_t arch() const { return cubin.ends_with("sm_90") ? 90 : 89; }
};

inline std::vector<std::string> SplitText(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

inline const std::vector<ListingRow>& Listing() {
  static const std::vector<ListingRow> rows = [] {
    std::vector<ListingRow> result;
    const std::string text = ::sm89::test::ReadXz(std::string(kSassFolder) + "/listing.tsv.xz");
    for (size_t begin = text.find('\n') + 1; begin != 0 && begin < text.size();) {
      const size_t end = text.find('\n', begin);
      const std::vector<std::string> cells =
          SplitText(std::string_view(text).substr(begin, end - begin), '\t');
      begin = end + 1;
      if (cells.size() < 6) continue;
      result.push_back({cells[0],
                        cells[1],
                        std::stoull(cells[2], nullptr, 16),
                        {std::stoull(cells[3], nullptr, 16), std::stoull(cells[4], nullptr, 16)},
                        cells[5]});
    }
    return result;
  }();
  return rows;
}

}  // namespace sm89::testing
