#include "sim/trace/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"

namespace sm89 {
namespace {

absl::Status Failure(const std::string& path, absl::StatusCode code, const std::string& why) {
  return InputError(code, Fault{.file = path, .message = absl::StrCat("cannot read the file: ", why)});
}

absl::Status FailureFromErrno(const std::string& path) {
  const int error = errno;
  absl::StatusCode code = absl::StatusCode::kUnavailable;
  if (error == ENOENT || error == ENOTDIR) code = absl::StatusCode::kNotFound;
  if (error == EACCES || error == EPERM) code = absl::StatusCode::kPermissionDenied;
  return Failure(path, code, std::strerror(error));
}

struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<MappedFile>> MappedFile::Open(const std::string& path) {
  // Non-blocking, so that a FIFO is refused below instead of waited for.
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) return FailureFromErrno(path);
  struct stat info {};
  if (fstat(file.fd, &info) != 0) return FailureFromErrno(path);
  if (!S_ISREG(info.st_mode)) {
    return Failure(path, absl::StatusCode::kInvalidArgument, "not a regular file");
  }
  const auto size = static_cast<size_t>(info.st_size);
  if (size == 0) return std::unique_ptr<MappedFile>(new MappedFile({}));
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (address == MAP_FAILED) return FailureFromErrno(path);
  return std::unique_ptr<MappedFile>(new MappedFile({static_cast<const char*>(address), size}));
}

void MappedFile::Release(std::string_view part) const {
  if (part.empty()) return;
  // Linux maps the cached pages around one that is touched, 64 KiB by default: those go, too. A neighbour
  // that is still wanted is read from the page cache again.
  constexpr size_t kAround = 64 << 10;
  const auto begin = static_cast<size_t>(part.data() - bytes_.data());
  const size_t from = begin / kAround * kAround - (begin < kAround ? 0 : kAround);
  const size_t to = std::min(begin + part.size() + kAround, bytes_.size());
  // Only advice: a failure leaves the pages where they are.
  madvise(const_cast<char*>(bytes_.data()) + from, to - from, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace sm89
