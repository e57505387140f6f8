#include "server/os/file_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/os/errno_status.h"
#include "server/os/unique_fd.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"

namespace sm89 {
namespace {

absl::Status PathError(int error, const char* verb, const std::string& path) {
  return ErrnoStatus(error, absl::StrCat("cannot ", verb, " ", path));
}

class PosixWritableFile final : public WritableFile {
 public:
  PosixWritableFile(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  absl::Status Append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = write(fd_.get(), bytes.data(), bytes.size());
      if (n < 0) {
        if (errno == EINTR) continue;
        return PathError(errno, "write", path_);
      }
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return absl::OkStatus();
  }

  absl::Status Sync() override {
    if (fdatasync(fd_.get()) != 0) return PathError(errno, "sync", path_);
    return absl::OkStatus();
  }

 private:
  UniqueFd fd_;
  std::string path_;
};

class PosixReadableFile final : public ReadableFile {
 public:
  PosixReadableFile(UniqueFd fd, uint64_t size, std::string path)
      : fd_(std::move(fd)), size_(size), path_(std::move(path)) {}

  uint64_t size() const override { return size_; }

  absl::StatusOr<std::string> Read(uint64_t offset, uint64_t max_bytes) const override {
    if (offset >= size_) return std::string();
    std::string out(static_cast<size_t>(std::min(max_bytes, size_ - offset)), '\0');
    size_t done = 0;
    while (done < out.size()) {
      const ssize_t n =
          pread(fd_.get(), out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return PathError(errno, "read", path_);
      if (n == 0) return absl::DataLossError(absl::StrCat(path_, " became shorter while it was read"));
      done += static_cast<size_t>(n);
    }
    return out;
  }

 private:
  UniqueFd fd_;
  uint64_t size_;
  std::string path_;
};

class RealFileStore final : public FileStore {
 public:
  absl::StatusOr<std::unique_ptr<WritableFile>> Create(const std::string& path) override {
    UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd.valid()) return PathError(errno, "create", path);
    return std::make_unique<PosixWritableFile>(std::move(fd), path);
  }

  absl::StatusOr<std::unique_ptr<WritableFile>> OpenAt(const std::string& path, uint64_t length) override {
    UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!fd.valid()) return PathError(errno, "open", path);
    struct stat info {};
    if (fstat(fd.get(), &info) != 0) return PathError(errno, "stat", path);
    if (static_cast<uint64_t>(info.st_size) < length) {
      return absl::DataLossError(
          absl::StrCat(path, " holds ", info.st_size, " bytes, ", length, " were committed"));
    }
    if (ftruncate(fd.get(), static_cast<off_t>(length)) != 0) return PathError(errno, "truncate", path);
    if (lseek(fd.get(), 0, SEEK_END) < 0) return PathError(errno, "seek in", path);
    return std::make_unique<PosixWritableFile>(std::move(fd), path);
  }

  absl::StatusOr<std::unique_ptr<ReadableFile>> OpenRead(const std::string& path) override {
    UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!fd.valid()) return PathError(errno, "open", path);
    struct stat info {};
    if (fstat(fd.get(), &info) != 0) return PathError(errno, "stat", path);
    if (!S_ISREG(info.st_mode)) return absl::FailedPreconditionError(absl::StrCat(path, " is not a file"));
    return std::make_unique<PosixReadableFile>(std::move(fd), static_cast<uint64_t>(info.st_size), path);
  }

  absl::StatusOr<uint64_t> Size(const std::string& path) override {
    struct stat info {};
    if (lstat(path.c_str(), &info) != 0) return PathError(errno, "stat", path);
    return static_cast<uint64_t>(info.st_size);
  }

  absl::Status Rename(const std::string& from, const std::string& to) override {
    if (rename(from.c_str(), to.c_str()) != 0) {
      return ErrnoStatus(errno, absl::StrCat("cannot rename ", from, " to ", to));
    }
    return absl::OkStatus();
  }

  absl::Status SyncDir(const std::string& dir) override {
    UniqueFd fd(open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd.valid()) return PathError(errno, "open folder", dir);
    if (fsync(fd.get()) != 0) return PathError(errno, "sync folder", dir);
    return absl::OkStatus();
  }

  absl::Status Remove(const std::string& path) override {
    if (unlink(path.c_str()) != 0 && errno != ENOENT) return PathError(errno, "remove", path);
    return absl::OkStatus();
  }

  absl::Status RemoveTree(const std::string& path) override {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    if (error) return PathError(error.value(), "remove folder", path);
    return absl::OkStatus();
  }

  absl::Status MakeDirs(const std::string& path) override {
    for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
      const std::string prefix = path.substr(0, slash);
      if (mkdir(prefix.c_str(), 0700) != 0 && errno != EEXIST) return PathError(errno, "make folder", prefix);
      if (slash == std::string::npos) break;
    }
    struct stat info {};
    if (stat(path.c_str(), &info) != 0) return PathError(errno, "stat", path);
    if (!S_ISDIR(info.st_mode)) return absl::FailedPreconditionError(absl::StrCat(path, " is not a folder"));
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<std::string>> List(const std::string& dir) override {
    std::error_code error;
    std::vector<std::string> names;
    for (std::filesystem::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
      names.push_back(it->path().filename().string());
    }
    if (error) return PathError(error.value(), "list folder", dir);
    std::sort(names.begin(), names.end());
    return names;
  }

  absl::StatusOr<uint64_t> FreeBytes(const std::string& dir) override {
    struct statvfs info {};
    if (statvfs(dir.c_str(), &info) != 0) return PathError(errno, "query", dir);
    return uint64_t{info.f_bavail} * info.f_frsize;
  }
};

// Length of the UTF-8 sequence that `lead` starts, 0 when it starts none.
int Utf8Length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

// The second byte's range depends on the lead: no overlong forms, no surrogates, nothing past U+10FFFF.
bool SecondByteFits(unsigned char lead, unsigned char second) {
  if (lead == 0xE0) return second >= 0xA0;
  if (lead == 0xED) return second < 0xA0;
  if (lead == 0xF0) return second >= 0x90;
  if (lead == 0xF4) return second < 0x90;
  return true;
}

}  // namespace

FileStore& PosixFileStore() {
  static RealFileStore store;
  return store;
}

absl::Status AtomicWriteFile(FileStore& files, const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".tmp";
  RETURN_IF_ERROR(files.Remove(temporary));
  const absl::Status written = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, files.Create(temporary));
    RETURN_IF_ERROR(file->Append(bytes));
    RETURN_IF_ERROR(file->Sync());
    return files.Rename(temporary, path);
  }();
  if (!written.ok()) {
    // Best effort: the first error is the one to report.
    files.Remove(temporary).IgnoreError();
    return written;
  }
  const std::string dir = std::filesystem::path(path).parent_path().string();
  return files.SyncDir(dir.empty() ? "." : dir);
}

absl::StatusOr<std::string> ReadWholeFile(FileStore& files, const std::string& path, uint64_t max_bytes) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ReadableFile> file, files.OpenRead(path));
  if (file->size() > max_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat(path, " holds ", file->size(), " bytes, at most ", max_bytes, " are read"));
  }
  return file->Read(0, max_bytes);
}

bool IsValidUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const int length = Utf8Length(lead);
    if (length == 0 || i + static_cast<size_t>(length) > text.size()) return false;
    for (int k = 1; k < length; ++k) {
      const auto byte = static_cast<unsigned char>(text[i + static_cast<size_t>(k)]);
      if ((byte & 0xC0) != 0x80) return false;
      if (k == 1 && !SecondByteFits(lead, byte)) return false;
    }
    i += static_cast<size_t>(length);
  }
  return true;
}

bool IsSafeFileName(std::string_view name) {
  constexpr size_t kNameBytesMax = 200;
  if (name.empty() || name.size() > kNameBytesMax || !IsValidUtf8(name)) return false;
  if (name.front() == '.' || name.front() == '-' || name.back() == '.' || name.back() == ' ') return false;
  return std::none_of(name.begin(), name.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c == '/' || c == '\\' || byte < 0x20 || byte == 0x7F;
  });
}

}  // namespace sm89
