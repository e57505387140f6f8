#include "sim/trace/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

absl::StatusCode CodeOf(int error) {
  switch (error) {
    case ENOENT:
      return absl::StatusCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::StatusCode::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return absl::StatusCode::kResourceExhausted;
    default:
      return absl::StatusCode::kUnavailable;
  }
}

// A rename is durable once its directory is on disk too.
void SyncDirectoryOf(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const int fd = open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;  // not readable: the rename is still atomic
  fsync(fd);
  close(fd);
}

}  // namespace

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(tmp_path_.c_str());
}

absl::Status OutputFile::Failure(const char* what) const {
  const int error = errno;
  return InputError(
      CodeOf(error),
      Fault{.file = path_, .message = absl::StrCat("cannot ", what, ": ", std::strerror(error))});
}

absl::Status OutputFile::Create(const std::string& path) {
  path_ = path;
  struct stat info {};
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return InputError(
        absl::StatusCode::kFailedPrecondition,
        Fault{.file = path_,
              .expected = "a regular file, or a name that is free",
              .message = S_ISDIR(info.st_mode) ? "it is a folder" : "a device or pipe would be replaced"});
  }
  tmp_path_ = path + ".tmp";
  fd_ = open(tmp_path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
  return fd_ < 0 ? Failure("create the file") : absl::OkStatus();
}

absl::Status OutputFile::WriteAt(uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Failure("write the file");
    bytes.remove_prefix(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Append(std::string_view bytes) {
  RETURN_IF_ERROR(WriteAt(size_, bytes));
  size_ += bytes.size();
  return absl::OkStatus();
}

absl::Status OutputFile::Commit() {
  if (fsync(fd_) != 0) return Failure("sync the file");
  if (std::rename(tmp_path_.c_str(), path_.c_str()) != 0) return Failure("rename the file");
  close(fd_);
  fd_ = -1;
  SyncDirectoryOf(path_);
  return absl::OkStatus();
}

}  // namespace sm89
