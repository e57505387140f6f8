// A folder of its own for each test, removed at the end.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "sim/base/assert.h"

namespace sm89::testing {

class TempDir {
 public:
  TempDir() : path_((std::filesystem::temp_directory_path() / "sm89_test_XXXXXX").string()) {
    SM89_ASSERT(mkdtemp(path_.data()) != nullptr, "a temporary folder can be made");
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace sm89::testing
