// A file on this machine that is to be uploaded: opened once, read through one descriptor, so that what was
// hashed is what is sent (or the difference is noticed).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sm89::client {

class LocalFile {
 public:
  // `display_name`: how the server calls it; its suffix tells the packing.
  static absl::StatusOr<LocalFile> Open(const std::string& path, const std::string& display_name);
  // Takes over an open, readable descriptor of a regular file.
  static absl::StatusOr<LocalFile> Adopt(int fd, const std::string& display_name);

  LocalFile(LocalFile&& other) noexcept;
  LocalFile& operator=(LocalFile&& other) noexcept;
  ~LocalFile();

  const std::string& display_name() const { return display_name_; }
  void Rename(const std::string& display_name) { display_name_ = display_name; }
  uint64_t size_bytes() const { return size_bytes_; }

  // Exactly `size` bytes from `offset`; FAILED_PRECONDITION when the file has become shorter.
  absl::StatusOr<std::string> Read(uint64_t offset, size_t size) const;

  // SHA-256 of the whole, hex. `progress` gets the bytes done now and then and answers whether to go on
  // (CANCELLED when not).
  absl::StatusOr<std::string> Digest(const std::function<bool(uint64_t)>& progress) const;

 private:
  LocalFile(int fd, std::string display_name, uint64_t size_bytes);
  int fd_ = -1;
  std::string display_name_;
  uint64_t size_bytes_ = 0;
};

}  // namespace sm89::client
