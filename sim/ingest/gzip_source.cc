// gzip through zlib: any number of members, one after another.
#include <zlib.h>

#include <algorithm>

#include "sim/base/assert.h"
#include "sim/base/status_macros.h"
#include "sim/ingest/byte_source.h"

namespace sm89 {
namespace {

class GzipSource final : public ByteSource {
 public:
  GzipSource(std::unique_ptr<InputFile> file, IngestContext& context) : input_(std::move(file), context) {
    // 15 = largest window (32 KiB), +16 = gzip wrapper only.
    SM89_ASSERT(inflateInit2(&stream_, 15 + 16) == Z_OK, "out of memory for a gzip decoder");
  }
  ~GzipSource() override { inflateEnd(&stream_); }

  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    while (true) {
      RETURN_IF_ERROR(input_.Fill());
      if (input_.at_end()) {
        if (in_member_) return TruncatedStream(input_.name(), "gzip");
        return size_t{0};
      }
      ASSIGN_OR_RETURN(const size_t got, Step(out, size));
      if (got > 0) return got;
    }
  }

 private:
  absl::StatusOr<size_t> Step(char* out, size_t size) {
    const auto room = static_cast<uInt>(std::min<size_t>(size, 1u << 30));
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input_.data()));
    stream_.avail_in = static_cast<uInt>(input_.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = room;
    in_member_ = true;
    const int code = inflate(&stream_, Z_NO_FLUSH);
    input_.Consume(input_.size() - stream_.avail_in);
    if (code == Z_STREAM_END) {
      in_member_ = false;
      SM89_ASSERT(inflateReset(&stream_) == Z_OK, "resetting a gzip decoder");
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      return CorruptStream(input_.name(), "gzip", stream_.msg != nullptr ? stream_.msg : "bad data");
    }
    return size_t{room - stream_.avail_out};
  }

  PackedInput input_;
  z_stream stream_ = {};
  bool in_member_ = true;  // an empty input is no complete stream
};

}  // namespace

std::unique_ptr<ByteSource> MakeGzipSource(std::unique_ptr<InputFile> file, IngestContext& context) {
  return std::make_unique<GzipSource>(std::move(file), context);
}

}  // namespace sm89
