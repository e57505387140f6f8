#include "server/worker/child_command.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <new>

#include "absl/strings/str_cat.h"
#include "server/os/file_store.h"

namespace sm89 {
namespace {

void OutOfMemory() {
  constexpr char kText[] = "sm89-worker: out of memory\n";
  [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, kText, sizeof kText - 1);
  _exit(kChildExitOutOfMemory);
}

}  // namespace

void BecomeChildCommand() {
  std::set_new_handler(OutOfMemory);
  // The daemon's thread that started us waits for us, so its end is the daemon's end.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

bool WriteResult(const std::string& path, const std::string& text) {
  const absl::Status written = AtomicWriteFile(PosixFileStore(), path, text);
  if (written.ok()) return true;
  const std::string line = absl::StrCat("sm89-worker: ", written.message(), "\n");
  [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, line.data(), line.size());
  return false;
}

}  // namespace sm89
