#include "sim/timeline/gzip_writer.h"

#include <algorithm>
#include <utility>

#include "sim/base/assert.h"

namespace sm89 {
namespace {

constexpr int kLevel = 6;             // zlib's default: the next ones gain 1 % for twice the time
constexpr int kGzipWindow = 15 + 16;  // largest window, gzip wrapper
constexpr int kMemoryLevel = 8;       // zlib's default

}  // namespace

GzipWriter::GzipWriter(std::function<bool(std::string_view)> write) : write_(std::move(write)) {
  const int code = deflateInit2(&stream_, kLevel, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY);
  SM89_ASSERT(code == Z_OK, "out of memory for a gzip encoder");
}

GzipWriter::~GzipWriter() { deflateEnd(&stream_); }

bool GzipWriter::Append(std::string_view bytes) {
  while (wanted_ && !bytes.empty()) {
    const size_t size = std::min<size_t>(bytes.size(), 1u << 30);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(size);
    bytes.remove_prefix(size);
    Deflate(Z_NO_FLUSH);
  }
  return wanted_;
}

bool GzipWriter::Finish() {
  stream_.next_in = nullptr;
  stream_.avail_in = 0;
  return Deflate(Z_FINISH);
}

bool GzipWriter::Deflate(int flush) {
  while (wanted_) {
    stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
    stream_.avail_out = kPieceBytes;
    const int code = deflate(&stream_, flush);
    SM89_ASSERT(code != Z_STREAM_ERROR, "the encoder's state is sound");
    const size_t made = kPieceBytes - stream_.avail_out;
    if (made != 0) wanted_ = write_(std::string_view(out_.data(), made));
    if (code == Z_STREAM_END || (flush == Z_NO_FLUSH && stream_.avail_out != 0)) break;
  }
  return wanted_;
}

}  // namespace sm89
