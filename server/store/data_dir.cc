#include "server/store/data_dir.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/os/errno_status.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

constexpr long kCifsMagic = 0xFF534D42;  // not in linux/magic.h

absl::Status RefuseNetworkFileSystem(const std::string& path) {
  struct statfs info {};
  if (statfs(path.c_str(), &info) != 0) return ErrnoStatus(errno, absl::StrCat("cannot query ", path));
  for (const long magic :
       {static_cast<long>(NFS_SUPER_MAGIC), static_cast<long>(SMB_SUPER_MAGIC), kCifsMagic}) {
    if (info.f_type == magic) {
      return absl::FailedPreconditionError(
          absl::StrCat(path, " is on a network file system: the data folder must be on a local disk"));
    }
  }
  return absl::OkStatus();
}

std::string HolderOf(int fd) {
  std::array<char, 32> text{};
  const ssize_t n = pread(fd, text.data(), text.size(), 0);
  const std::string pid(text.data(), n > 0 ? static_cast<size_t>(n) : 0);
  return n > 0 ? absl::StrCat("process ", absl::StripAsciiWhitespace(pid)) : "another process";
}

}  // namespace

absl::StatusOr<std::unique_ptr<DataDir>> DataDir::Open(FileStore& files, const std::string& path) {
  if (path.empty()) return absl::InvalidArgumentError("data_dir is empty");
  RETURN_IF_ERROR(files.MakeDirs(path));
  RETURN_IF_ERROR(RefuseNetworkFileSystem(path));
  const std::string lock_path = path + "/lock";
  UniqueFd lock(open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock.valid()) return ErrnoStatus(errno, absl::StrCat("cannot open ", lock_path));
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return ErrnoStatus(errno, absl::StrCat("cannot lock ", lock_path));
    return absl::FailedPreconditionError(
        absl::StrCat("the data folder ", path, " is in use by ", HolderOf(lock.get())));
  }
  const std::string pid = absl::StrCat(getpid(), "\n");
  // Only the message above reads it, so a failure (full disk) does not matter.
  if (ftruncate(lock.get(), 0) == 0) {
    [[maybe_unused]] const ssize_t n = pwrite(lock.get(), pid.data(), pid.size(), 0);
  }
  std::unique_ptr<DataDir> dir(new DataDir(path, std::move(lock)));
  RETURN_IF_ERROR(files.RemoveTree(dir->scratch()));
  for (const std::string& sub : {dir->blobs(), dir->uploads(), dir->scratch()}) {
    RETURN_IF_ERROR(files.MakeDirs(sub));
  }
  return dir;
}

}  // namespace sm89
