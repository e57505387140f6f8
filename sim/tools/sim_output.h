// Result files that are either whole or not there.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sm89 {

// Opens a temporary file beside `path` at once, so that an unwritable place is found before a long run, and
// renames it on Commit. An abandoned output leaves nothing behind and an existing file untouched. What is not
// a regular file (a pipe, /dev/null) is written directly. "-" is the stream given.
class ResultOutput {
 public:
  static absl::StatusOr<std::unique_ptr<ResultOutput>> Open(const std::string& path,
                                                            std::ostream& standard_out);
  ~ResultOutput();
  ResultOutput(const ResultOutput&) = delete;
  ResultOutput& operator=(const ResultOutput&) = delete;

  // Writes ahead of Commit, for outputs that are made in pieces.
  absl::Status Append(std::string_view bytes);
  // Writes the last bytes (all of them when nothing was appended) and puts the file in its place.
  absl::Status Commit(std::string_view bytes);

 private:
  ResultOutput() = default;

  std::string path_;
  std::string temporary_;  // empty: written directly
  int file_ = -1;
  std::ostream* standard_out_ = nullptr;
};

// True when both paths lead to one regular file, or to one that would be made. Neither needs to exist.
bool SameFile(const std::string& a, const std::string& b);

}  // namespace sm89
