// A regular file opened for reading, by a path that the user gave or by a plain name inside a folder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sm89 {

// True for a name that can only mean a file directly inside a folder: not empty, no slash, no control
// character, not "." or "..".
bool IsPlainName(std::string_view name);

// Owns the descriptor. Not thread-safe.
class InputFile {
 public:
  // `path` is the user's own: links on the way to it are followed.
  static absl::StatusOr<std::unique_ptr<InputFile>> OpenPath(const std::string& path);
  // `name` must be plain. Never follows a link and never blocks on a pipe: NOT_FOUND when absent,
  // INVALID_ARGUMENT for anything but a regular file.
  static absl::StatusOr<std::unique_ptr<InputFile>> OpenInFolder(const std::string& folder,
                                                                 const std::string& name);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Plain name for messages.
  const std::string& name() const { return name_; }
  uint64_t size() const { return size_; }
  // For libraries that read by descriptor; stays owned here.
  int fd() const { return fd_; }

  // Next bytes; 0 = end of file.
  absl::StatusOr<size_t> Read(char* out, size_t size);
  // Exactly `size` bytes at `offset` (the read position stays), or fewer at the end of the file.
  absl::StatusOr<size_t> ReadAt(uint64_t offset, char* out, size_t size);

 private:
  InputFile(int fd, std::string name, uint64_t size) : fd_(fd), name_(std::move(name)), size_(size) {}
  static absl::StatusOr<std::unique_ptr<InputFile>> Adopt(int fd, const std::string& name);

  const int fd_;
  const std::string name_;
  const uint64_t size_;
};

}  // namespace sm89
