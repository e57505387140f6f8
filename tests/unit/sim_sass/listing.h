// Rows of ../shared/sass/listing.tsv.xz: words with the vendor's text. Empty where the file is absent.
#pragma once

#include <lzma.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "sim/sass/instruction.h"

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

inline std::string Unxz(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string packed((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::string out;
  lzma_stream stream = LZMA_STREAM_INIT;
  if (packed.empty() || lzma_stream_decoder(&stream, UINT64_MAX, 0) != LZMA_OK) return out;
  std::vector<char> buffer(size_t{1} << 20);
  stream.next_in = reinterpret_cast<const uint8_t*>(packed.data());
  stream.avail_in = packed.size();
  lzma_ret result = LZMA_OK;
  while (result == LZMA_OK) {
    stream.next_out = reinterpret_cast<uint8_t*>(buffer.data());
    stream.avail_out = buffer.size();
    result = lzma_code(&stream, LZMA_FINISH);
    out.append(buffer.data(), buffer.size() - stream.avail_out);
  }
  lzma_end(&stream);
  return result == LZMA_STREAM_END ? out : "";
}

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
    const std::string text = Unxz(std::string(kSassFolder) + "/listing.tsv.xz");
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
