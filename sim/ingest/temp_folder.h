// A private folder that is removed, with all in it, when its owner goes.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace sm89 {

class TempFolder {
 public:
  // A new folder whose path starts with `prefix`, readable by the owner only.
  static absl::StatusOr<std::unique_ptr<TempFolder>> Create(const std::string& prefix);
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit TempFolder(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

}  // namespace sm89
