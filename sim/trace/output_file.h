// A file that appears under its name only once it is complete and on disk.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sm89 {

// Writes PATH.tmp; Commit syncs it and renames it to PATH; without Commit the destructor removes it.
class OutputFile {
 public:
  OutputFile() = default;
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  absl::Status Create(const std::string& path);
  absl::Status Append(std::string_view bytes);
  // Overwrites bytes already written.
  absl::Status WriteAt(uint64_t offset, std::string_view bytes);
  absl::Status Commit();
  uint64_t size() const { return size_; }

 private:
  absl::Status Failure(const char* what) const;

  std::string path_, tmp_path_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

}  // namespace sm89
