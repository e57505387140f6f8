#include "client/local_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/checksum.h"
#include "client/error.h"

namespace sm89::client {
namespace {

constexpr size_t kHashChunkBytes = 1 << 20;

absl::Status BadFile(const std::string& path, const std::string& message) {
  v1::Fault fault;
  fault.set_file(path);
  fault.set_message(message);
  return InputError("FILE_UNREADABLE", absl::StrCat("cannot upload ", path), {fault});
}

}  // namespace

LocalFile::LocalFile(int fd, std::string display_name, uint64_t size_bytes)
    : fd_(fd), display_name_(std::move(display_name)), size_bytes_(size_bytes) {}

LocalFile::LocalFile(LocalFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      display_name_(std::move(other.display_name_)),
      size_bytes_(other.size_bytes_) {}

LocalFile& LocalFile::operator=(LocalFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(display_name_, other.display_name_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

LocalFile::~LocalFile() {
  if (fd_ >= 0) close(fd_);
}

absl::StatusOr<LocalFile> LocalFile::Open(const std::string& path, const std::string& display_name) {
  // O_NONBLOCK: a named pipe must not hang us; it is refused below.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return BadFile(path, std::strerror(errno));
  absl::StatusOr<LocalFile> file = Adopt(fd, display_name);
  if (!file.ok()) return BadFile(path, std::string(file.status().message()));
  return file;
}

absl::StatusOr<LocalFile> LocalFile::Adopt(int fd, const std::string& display_name) {
  struct stat info {};
  const bool known = fstat(fd, &info) == 0;
  LocalFile file(fd, display_name, known ? static_cast<uint64_t>(info.st_size) : 0);
  if (!known) return absl::InvalidArgumentError(std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError("not a regular file");
  if (info.st_size == 0) return absl::InvalidArgumentError("the file is empty");
  return file;
}

absl::StatusOr<std::string> LocalFile::Read(uint64_t offset, size_t size) const {
  std::string data(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t n = pread(fd_, data.data() + done, size - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      return absl::FailedPreconditionError(
          absl::StrCat("cannot read ", display_name_, ": ", std::strerror(errno)));
    if (n == 0)
      return absl::FailedPreconditionError(absl::StrCat(display_name_, " became shorter while it was read"));
    done += static_cast<size_t>(n);
  }
  return data;
}

absl::StatusOr<std::string> LocalFile::Digest(const std::function<bool(uint64_t)>& progress) const {
  Sha256 hash;
  uint64_t done = 0;
  while (done < size_bytes_) {
    if (!progress(done)) return absl::CancelledError("interrupted");
    const auto size = static_cast<size_t>(std::min<uint64_t>(kHashChunkBytes, size_bytes_ - done));
    absl::StatusOr<std::string> data = Read(done, size);
    if (!data.ok()) return data.status();
    hash.Update(data->data(), data->size());
    done += size;
  }
  progress(done);
  return hash.FinishHex();
}

}  // namespace sm89::client
