// The daemon's folder: who owns it, and what lies where. One daemon at a time.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/os/file_store.h"
#include "server/os/unique_fd.h"

namespace sm89 {

// Holds the folder's lock while it lives; the lock goes with the process, kill -9 included.
class DataDir {
 public:
  // Makes the folder (mode 0700) if need be. FAILED_PRECONDITION when another daemon holds it (names its pid)
  // or when it lies on a network file system, whose locks and fsync cannot be relied on.
  static absl::StatusOr<std::unique_ptr<DataDir>> Open(FileStore& files, const std::string& path);

  const std::string& path() const { return path_; }
  std::string database() const { return path_ + "/sm89.db"; }
  std::string blobs() const { return path_ + "/blobs"; }
  std::string uploads() const { return path_ + "/uploads"; }
  std::string scratch() const { return path_ + "/scratch"; }  // emptied at start

 private:
  DataDir(std::string path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  UniqueFd lock_;
};

}  // namespace sm89
