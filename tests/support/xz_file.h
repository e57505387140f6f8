// Whole .xz files in tests.
#pragma once

#include <lzma.h>

#include <fstream>
#include <iterator>
#include <string>

namespace sm89::test {

// The unpacked bytes; "" when the file is absent or damaged.
inline std::string ReadXz(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string packed{std::istreambuf_iterator<char>(in), {}};
  std::string out;
  lzma_stream stream = LZMA_STREAM_INIT;
  if (packed.empty() || lzma_stream_decoder(&stream, UINT64_MAX, 0) != LZMA_OK) return out;
  std::string block(1 << 20, '\0');
  stream.next_in = reinterpret_cast<const uint8_t*>(packed.data());
  stream.avail_in = packed.size();
  lzma_ret result = LZMA_OK;
  while (result == LZMA_OK) {
    stream.next_out = reinterpret_cast<uint8_t*>(block.data());
    stream.avail_out = block.size();
    result = lzma_code(&stream, LZMA_FINISH);
    out.append(block, 0, block.size() - stream.avail_out);
  }
  lzma_end(&stream);
  return result == LZMA_STREAM_END ? out : std::string();
}

}  // namespace sm89::test
