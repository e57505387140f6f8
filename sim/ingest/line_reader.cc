#include "sim/ingest/line_reader.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/ingest/limits.h"

namespace sm89 {

LineReader::LineReader(std::unique_ptr<ByteSource> source, std::string file, size_t max_line_bytes)
    : source_(std::move(source)),
      file_(std::move(file)),
      max_line_bytes_(max_line_bytes),
      buffer_(kReadChunkBytes) {}

absl::StatusOr<bool> LineReader::Next(std::string_view* line) {
  while (true) {
    const char* found = nullptr;
    if (scanned_ < end_) {
      found = static_cast<const char*>(std::memchr(buffer_.data() + scanned_, '\n', end_ - scanned_));
    }
    const size_t line_end = found != nullptr ? static_cast<size_t>(found - buffer_.data()) : end_;
    if (line_end - begin_ > max_line_bytes_) return LineTooLong();
    if (found == nullptr) {
      scanned_ = end_;
      if (!at_end_) {
        ASSIGN_OR_RETURN(const bool more, Refill());
        at_end_ = !more;
        continue;
      }
      if (begin_ == end_) return false;
      unterminated_ = true;
    }
    size_t size = line_end - begin_;
    if (size > 0 && buffer_[begin_ + size - 1] == '\r') --size;
    *line = std::string_view(buffer_.data() + begin_, size);
    begin_ = found != nullptr ? line_end + 1 : end_;
    scanned_ = begin_;
    ++line_number_;
    return true;
  }
}

absl::StatusOr<bool> LineReader::Refill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    scanned_ = end_;
  }
  SM89_ASSERT(end_ <= max_line_bytes_, "longer partial lines were refused");
  if (buffer_.size() < end_ + kReadChunkBytes) buffer_.resize(end_ + kReadChunkBytes);
  ASSIGN_OR_RETURN(const size_t got, source_->Read(buffer_.data() + end_, kReadChunkBytes));
  end_ += got;
  return got > 0;
}

absl::Status LineReader::LineTooLong() const {
  Fault fault;
  fault.file = file_;
  fault.line = line_number_ + 1;
  fault.expected = absl::StrCat("at most ", max_line_bytes_, " bytes a line");
  fault.message = "the line is too long";
  fault.facts = {{"limit_bytes", absl::StrCat(max_line_bytes_)}};
  return InputError(absl::StatusCode::kResourceExhausted, fault);
}

}  // namespace sm89
