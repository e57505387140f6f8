// A file without a name in the file system: it vanishes with its descriptor.
#pragma once

#include <utility>

#include "absl/status/statusor.h"

namespace sm89::client {

// An open file that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  ~Descriptor();
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// In $TMPDIR, else /tmp; readable and writable.
absl::StatusOr<Descriptor> TemporaryFile();

}  // namespace sm89::client
