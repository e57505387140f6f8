// Lines of a byte source, numbered from 1, without their end ("\n" or "\r\n").
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/ingest/byte_source.h"

namespace sm89 {

// Not thread-safe.
class LineReader {
 public:
  // `file` is the name for messages. Lines longer than `max_line_bytes` are RESOURCE_EXHAUSTED.
  LineReader(std::unique_ptr<ByteSource> source, std::string file, size_t max_line_bytes);

  // False at the end of the input. The text stays valid until the next call.
  absl::StatusOr<bool> Next(std::string_view* line);
  // Number of the line last given; 0 before the first.
  uint64_t line_number() const { return line_number_; }
  // True when the line last given was the last one and had no "\n": it may have been cut.
  bool unterminated() const { return unterminated_; }
  const std::string& file() const { return file_; }

 private:
  // Makes more bytes available behind the partial line; false at the end of the source.
  absl::StatusOr<bool> Refill();
  absl::Status LineTooLong() const;

  std::unique_ptr<ByteSource> source_;
  const std::string file_;
  const size_t max_line_bytes_;
  std::vector<char> buffer_;
  size_t begin_ = 0;    // start of the next line
  size_t scanned_ = 0;  // no "\n" before this
  size_t end_ = 0;
  uint64_t line_number_ = 0;
  bool at_end_ = false;
  bool unterminated_ = false;
};

}  // namespace sm89
