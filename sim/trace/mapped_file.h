// A read-only mapping of a whole file. The file must not shrink while it is mapped: compact traces are
// written once under their final name and never changed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace sm89 {

class MappedFile {
 public:
  // NOT_FOUND, PERMISSION_DENIED, INVALID_ARGUMENT (not a regular file) ... naming the path.
  static absl::StatusOr<std::unique_ptr<MappedFile>> Open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return bytes_; }
  // `part` of bytes() has been read and will hardly be read again: takes it out of the process's memory. It
  // stays readable.
  void Release(std::string_view part) const;

 private:
  explicit MappedFile(std::string_view bytes) : bytes_(bytes) {}
  std::string_view bytes_;
};

}  // namespace sm89
