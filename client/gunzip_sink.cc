#include "client/gunzip_sink.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/macros.h"

namespace sm89::client {
namespace {

constexpr int kGzipWindow = 15 + 16;  // largest window, gzip wrapper only
constexpr size_t kPieceBytes = 1u << 16;

}  // namespace

GunzipSink::GunzipSink(std::unique_ptr<ArtifactSink> to) : to_(std::move(to)) {
  ready_ = inflateInit2(&stream_, kGzipWindow) == Z_OK;
}

GunzipSink::~GunzipSink() {
  if (ready_) inflateEnd(&stream_);
}

absl::Status GunzipSink::Restart() {
  whole_ = false;
  if (!ready_ || inflateReset(&stream_) != Z_OK) {
    return absl::ResourceExhaustedError("no memory for a gzip decoder");
  }
  return to_->Restart();
}

absl::Status GunzipSink::Append(const std::string& data) {
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream_.avail_in = static_cast<uInt>(data.size());
  std::string piece;
  do {
    if (whole_) {
      if (stream_.avail_in == 0) break;
      if (inflateReset(&stream_) != Z_OK) return absl::InternalError("the gzip decoder cannot be reset");
      whole_ = false;
    }
    piece.resize(kPieceBytes);
    stream_.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream_.avail_out = static_cast<uInt>(kPieceBytes);
    const int code = inflate(&stream_, Z_NO_FLUSH);
    whole_ = code == Z_STREAM_END;
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
      return absl::DataLossError(absl::StrCat("the artifact is not sound gzip: ",
                                              stream_.msg != nullptr ? stream_.msg : "bad data"));
    }
    piece.resize(kPieceBytes - stream_.avail_out);
    if (!piece.empty()) CLIENT_RETURN_IF_ERROR(to_->Append(piece));
    if (code == Z_BUF_ERROR) break;  // wants more
  } while (stream_.avail_in > 0 || stream_.avail_out == 0);
  return absl::OkStatus();
}

absl::Status GunzipSink::Commit() {
  if (!whole_) return absl::DataLossError("the artifact ends within its gzip stream");
  return to_->Commit();
}

}  // namespace sm89::client
