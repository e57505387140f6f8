#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/os/errno_status.h"
#include "server/os/process.h"
#include "server/os/unique_fd.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

constexpr size_t kStartTimeField = 22;  // proc(5), fields counted from 1
constexpr size_t kFirstFieldAfterName = 3;

absl::StatusOr<std::string> ReadProcFile(pid_t pid, const char* name) {
  const std::string path = absl::StrCat("/proc/", pid, "/", name);
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, path);
  std::string text(4096, '\0');  // one read gives all of a /proc file this short
  const ssize_t n = read(fd.get(), text.data(), text.size());
  // The process may end between open and read.
  if (n < 0) return errno == ESRCH ? absl::NotFoundError(path) : ErrnoStatus(errno, path);
  text.resize(static_cast<size_t>(n));
  return text;
}

}  // namespace

absl::StatusOr<uint64_t> ProcessStartTicks(pid_t pid) {
  ASSIGN_OR_RETURN(const std::string text, ReadProcFile(pid, "stat"));
  // The name in parentheses may hold anything, so fields are counted from the last ')'.
  const size_t close = text.rfind(')');
  if (close == std::string::npos) return absl::InternalError("unreadable /proc/PID/stat");
  const std::vector<std::string> fields =
      absl::StrSplit(absl::string_view(text).substr(close + 1), ' ', absl::SkipEmpty());
  constexpr size_t kIndex = kStartTimeField - kFirstFieldAfterName;
  uint64_t ticks = 0;
  if (fields.size() <= kIndex || !absl::SimpleAtoi(fields[kIndex], &ticks)) {
    return absl::InternalError("unreadable /proc/PID/stat");
  }
  return ticks;
}

absl::Status SignalProcessGroup(pid_t pid, uint64_t start_ticks, int signal) {
  ASSIGN_OR_RETURN(const uint64_t ticks, ProcessStartTicks(pid));
  if (ticks != start_ticks) return absl::NotFoundError(absl::StrCat("process ", pid, " is another one now"));
  if (kill(-pid, signal) != 0) {
    if (errno == ESRCH) return absl::NotFoundError(absl::StrCat("no process group ", pid));
    return ErrnoStatus(errno, absl::StrCat("cannot signal process group ", pid));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> ProcessRssBytes(pid_t pid) {
  ASSIGN_OR_RETURN(const std::string text, ReadProcFile(pid, "statm"));
  const std::vector<std::string> fields = absl::StrSplit(text, ' ');
  uint64_t pages = 0;
  if (fields.size() < 2 || !absl::SimpleAtoi(fields[1], &pages)) {
    return absl::InternalError("unreadable /proc/PID/statm");
  }
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace sm89
