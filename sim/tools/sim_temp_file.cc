#include "sim/tools/sim_temp_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sm89 {

absl::StatusOr<TempFile> TempFile::Create(const std::string& prefix) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) {
    return absl::FailedPreconditionError(
        absl::StrCat("no folder for temporary files (TMPDIR): ", error.message()));
  }
  std::string folder = (parent / absl::StrCat(prefix, "-XXXXXX")).string();
  if (mkdtemp(folder.data()) == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot make a folder under '", parent.string(), "': ", std::strerror(errno)));
  }
  return TempFile(std::move(folder));
}

TempFile::TempFile(std::string folder) : folder_(std::move(folder)), path_(folder_ + "/trace.sm89t") {}

TempFile::TempFile(TempFile&& other) noexcept
    : folder_(std::exchange(other.folder_, std::string())), path_(std::move(other.path_)) {}

TempFile::~TempFile() {
  if (folder_.empty()) return;
  std::error_code ignored;  // nothing better can be done with a folder that cannot be removed
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace sm89
