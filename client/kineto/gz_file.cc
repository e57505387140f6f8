#include "client/kineto/gz_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sm89::client {
namespace {

absl::Status FileError(const char* what, const std::string& path, int error) {
  const std::string text = absl::StrCat("cannot ", what, " ", path, ": ", std::strerror(error));
  if (error == ENOENT) return absl::NotFoundError(text);
  if (error == ENOSPC || error == EDQUOT) return absl::ResourceExhaustedError(text);
  return absl::FailedPreconditionError(text);
}

}  // namespace

absl::StatusOr<std::unique_ptr<GzInput>> GzInput::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return FileError("open", path, errno);
  struct stat info {};
  if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    close(fd);
    return FileError("read", path, EISDIR);
  }
  const gzFile file = gzdopen(fd, "rb");
  if (file == nullptr) {
    close(fd);
    return FileError("read", path, ENOMEM);
  }
  return std::unique_ptr<GzInput>(new GzInput(file, path));
}

GzInput::GzInput(gzFile file, std::string path) : file_(file), path_(std::move(path)) {}
GzInput::~GzInput() { gzclose(file_); }

absl::Status GzInput::status() const { return status_; }

GzInput::int_type GzInput::underflow() {
  if (!status_.ok()) return traits_type::eof();
  if (allowed_bytes_ == 0) {
    status_ = absl::ResourceExhaustedError(absl::StrCat(path_, ": one value is too large"));
    return traits_type::eof();
  }
  const int got = gzread(file_, buffer_.data(), buffer_.size());
  int code = Z_OK;
  const char* const message = gzerror(file_, &code);
  if (got < 0 || code == Z_BUF_ERROR) {
    status_ = code == Z_ERRNO
                  ? FileError("read", path_, errno)
                  : absl::InvalidArgumentError(absl::StrCat(path_, " is damaged or cut short: ", message));
  }
  if (got <= 0) return traits_type::eof();
  allowed_bytes_ -= std::min<uint64_t>(allowed_bytes_, static_cast<uint64_t>(got));
  setg(buffer_.data(), buffer_.data(), buffer_.data() + got);
  return traits_type::to_int_type(buffer_[0]);
}

absl::StatusOr<std::unique_ptr<GzOutput>> GzOutput::Create(const std::string& path) {
  struct stat info {};
  const bool direct = stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  const std::string opened = direct ? path : absl::StrCat(path, ".part-", getpid());
  const int flags = O_WRONLY | O_CLOEXEC | (direct ? 0 : O_CREAT | O_TRUNC | O_NOFOLLOW);
  const int fd = open(opened.c_str(), flags, 0666);
  if (fd < 0) return FileError("write", opened, errno);
  const gzFile file = gzdopen(fd, path.ends_with(".gz") ? "wb6" : "wbT");
  if (file == nullptr) {
    close(fd);
    return FileError("write", opened, ENOMEM);
  }
  return std::unique_ptr<GzOutput>(new GzOutput(file, path, direct ? "" : opened));
}

GzOutput::GzOutput(gzFile file, std::string path, std::string temporary)
    : file_(file), path_(std::move(path)), temporary_(std::move(temporary)) {}

GzOutput::~GzOutput() {
  if (file_ == nullptr) return;
  gzclose(file_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

absl::Status GzOutput::Write(std::string_view text) {
  while (!text.empty()) {
    const auto size = static_cast<unsigned>(std::min<size_t>(text.size(), 1u << 30));
    if (gzwrite(file_, text.data(), size) <= 0) return FileError("write", path_, errno);
    text.remove_prefix(size);
  }
  return absl::OkStatus();
}

absl::Status GzOutput::Commit() {
  const int code = gzclose(std::exchange(file_, nullptr));
  if (code != Z_OK) {
    const absl::Status status = FileError("write", path_, code == Z_ERRNO ? errno : EIO);
    if (!temporary_.empty()) unlink(temporary_.c_str());
    return status;
  }
  if (temporary_.empty() || std::rename(temporary_.c_str(), path_.c_str()) == 0) return absl::OkStatus();
  const absl::Status status = FileError("rename to", path_, errno);
  unlink(temporary_.c_str());
  return status;
}

}  // namespace sm89::client
