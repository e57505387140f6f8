// A temporary path of this process, removed with the object.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace sm89 {

class TempFile {
 public:
  // In a folder of its own under $TMPDIR (or /tmp); the file itself is left for the user of path() to make.
  static absl::StatusOr<TempFile> Create(const std::string& prefix);
  TempFile(TempFile&& other) noexcept;
  TempFile& operator=(TempFile&&) = delete;
  ~TempFile();

  const std::string& path() const { return path_; }

 private:
  explicit TempFile(std::string folder);

  std::string folder_;  // empty: moved from
  std::string path_;
};

}  // namespace sm89
