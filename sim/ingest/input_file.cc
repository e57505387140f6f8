#include "sim/ingest/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"

namespace sm89 {
namespace {

// O_NONBLOCK so that opening a pipe cannot hang; it has no effect on regular files.
constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

std::string BaseName(const std::string& path) {
  const size_t end = path.find_last_not_of('/');
  if (end == std::string::npos) return path;
  const size_t slash = path.find_last_of('/', end);
  const size_t begin = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(begin, end + 1 - begin);
}

absl::Status OpenError(int error, const std::string& name) {
  Fault fault;
  fault.file = name;
  if (error == ENOENT || error == ENOTDIR) {
    fault.message = "no such file";
    fault.facts = {{"missing", name}};
    return InputError(absl::StatusCode::kNotFound, fault);
  }
  if (error == ELOOP) {
    fault.message = "is a symbolic link; a trace's files must be regular files inside its folder";
    return InputError(absl::StatusCode::kInvalidArgument, fault);
  }
  fault.message = absl::StrCat("cannot be opened: ", std::strerror(error));
  if (error == EACCES || error == EPERM) return InputError(absl::StatusCode::kPermissionDenied, fault);
  return InputError(
      error == ENAMETOOLONG ? absl::StatusCode::kInvalidArgument : absl::StatusCode::kUnavailable, fault);
}

absl::Status ReadError(int error, const std::string& name) {
  Fault fault;
  fault.file = name;
  fault.message = absl::StrCat("cannot be read: ", std::strerror(error));
  return InputError(absl::StatusCode::kUnavailable, fault);
}

}  // namespace

bool IsPlainName(std::string_view name) {
  if (name.empty() || name == "." || name == ".." || name.size() > 255) return false;
  return std::none_of(name.begin(), name.end(),
                      [](char c) { return c == '/' || c == '\x7f' || static_cast<unsigned char>(c) < 0x20; });
}

InputFile::~InputFile() { close(fd_); }

absl::StatusOr<std::unique_ptr<InputFile>> InputFile::Adopt(int fd, const std::string& name) {
  struct stat info = {};
  const bool known = fstat(fd, &info) == 0;
  if (known && S_ISREG(info.st_mode)) {
    return std::unique_ptr<InputFile>(new InputFile(fd, name, static_cast<uint64_t>(info.st_size)));
  }
  close(fd);
  Fault fault;
  fault.file = name;
  fault.expected = "a regular file";
  fault.message = known && S_ISDIR(info.st_mode) ? "is a directory" : "is not a regular file";
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

absl::StatusOr<std::unique_ptr<InputFile>> InputFile::OpenPath(const std::string& path) {
  const int fd = open(path.c_str(), kOpenFlags);
  if (fd < 0) return OpenError(errno, path);
  return Adopt(fd, BaseName(path));
}

absl::StatusOr<std::unique_ptr<InputFile>> InputFile::OpenInFolder(const std::string& folder,
                                                                   const std::string& name) {
  if (!IsPlainName(name)) {
    Fault fault;
    fault.file = name;
    fault.expected = "a plain file name";
    fault.message = "is not a plain file name inside the trace's folder";
    return InputError(absl::StatusCode::kInvalidArgument, fault);
  }
  const int dir = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir < 0) return OpenError(errno, folder);
  const int fd = openat(dir, name.c_str(), kOpenFlags | O_NOFOLLOW);
  const int error = errno;
  close(dir);
  if (fd < 0) return OpenError(error, name);
  return Adopt(fd, name);
}

absl::StatusOr<size_t> InputFile::Read(char* out, size_t size) {
  while (true) {
    const ssize_t got = read(fd_, out, size);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR) return ReadError(errno, name_);
  }
}

absl::StatusOr<size_t> InputFile::ReadAt(uint64_t offset, char* out, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t got = pread(fd_, out + done, size - done, static_cast<off_t>(offset + done));
    if (got == 0) break;
    if (got > 0) {
      done += static_cast<size_t>(got);
    } else if (errno != EINTR) {
      return ReadError(errno, name_);
    }
  }
  return done;
}

}  // namespace sm89
