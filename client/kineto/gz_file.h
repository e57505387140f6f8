// Files that may be gzip, as streams: plain or compressed in, by their content; out, by their name.
#pragma once

#include <zlib.h>

#include <array>
#include <cstdint>
#include <memory>
#include <streambuf>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sm89::client {

// Not to be shared. A stream over it ends at the end of the file or at the first error: ask status().
class GzInput : public std::streambuf {
 public:
  static absl::StatusOr<std::unique_ptr<GzInput>> Open(const std::string& path);
  ~GzInput() override;
  GzInput(const GzInput&) = delete;
  GzInput& operator=(const GzInput&) = delete;

  // DATA_LOSS when the file ends within its gzip stream or is damaged.
  absl::Status status() const;
  // From here on so many bytes of text may be read, to a buffer's accuracy; then RESOURCE_EXHAUSTED. No bound
  // before the first call.
  void Allow(uint64_t bytes) { allowed_bytes_ = bytes; }

 protected:
  int_type underflow() override;

 private:
  GzInput(gzFile file, std::string path);

  gzFile file_;
  std::string path_;
  uint64_t allowed_bytes_ = ~uint64_t{0};
  absl::Status status_;
  std::array<char, 1u << 16> buffer_;
};

// Written beside `path` and renamed on Commit; without it nothing is left behind. Compressed if the name ends
// in ".gz", without a name and a time in its header. What is no regular file is written directly.
class GzOutput {
 public:
  static absl::StatusOr<std::unique_ptr<GzOutput>> Create(const std::string& path);
  ~GzOutput();
  GzOutput(const GzOutput&) = delete;
  GzOutput& operator=(const GzOutput&) = delete;

  absl::Status Write(std::string_view text);
  absl::Status Commit();

 private:
  GzOutput(gzFile file, std::string path, std::string temporary);

  gzFile file_;
  std::string path_;
  std::string temporary_;  // empty: written directly
};

}  // namespace sm89::client
