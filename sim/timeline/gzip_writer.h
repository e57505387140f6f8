// Compresses a stream in pieces.
#pragma once

#include <zlib.h>

#include <array>
#include <functional>
#include <string_view>

namespace sm89 {

// One gzip member whose header holds neither a name nor a time, so that equal input gives equal bytes (of one
// version of zlib).
class GzipWriter {
 public:
  // `write` gets the compressed pieces; false from it ends everything.
  explicit GzipWriter(std::function<bool(std::string_view)> write);
  ~GzipWriter();
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;

  // False once `write` has said so.
  bool Append(std::string_view bytes);
  // The end of the member; nothing may follow.
  bool Finish();

 private:
  bool Deflate(int flush);

  static constexpr size_t kPieceBytes = 1u << 16;
  std::function<bool(std::string_view)> write_;
  z_stream stream_ = {};
  bool wanted_ = true;
  std::array<char, kPieceBytes> out_;
};

}  // namespace sm89
