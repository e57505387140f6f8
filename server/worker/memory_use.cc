#include "server/worker/memory_use.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <new>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/os/errno_status.h"
#include "server/pool/worker_exit.h"

namespace sm89 {
namespace {

constexpr uint64_t kKiB = 1024;

// A "Name:   123 kB" line of /proc/self/status; 0 when there is none.
uint64_t StatusBytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!absl::StartsWith(line, name)) continue;
    const std::vector<std::string> words = absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    uint64_t kib = 0;
    return words.size() >= 2 && absl::SimpleAtoi(words[1], &kib) ? kib * kKiB : 0;
  }
  return 0;
}

// No allocation is left to make, so nothing but a write and the exit.
void OnNoMemory() {
  constexpr char kText[] = "sm89-worker: memory limit reached\n";
  [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, kText, sizeof kText - 1);
  _exit(static_cast<int>(WorkerExitCode::kMemoryLimit));
}

absl::Status SetDataLimit(rlim_t soft) {
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return ErrnoStatus(errno, "getrlimit");
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || soft < limit.rlim_max ? soft : limit.rlim_max;
  if (setrlimit(RLIMIT_DATA, &limit) != 0) return ErrnoStatus(errno, "setrlimit");
  return absl::OkStatus();
}

}  // namespace

uint64_t MemoryInUseBytes() { return StatusBytes("RssAnon:"); }

absl::Status LimitMemory(uint64_t bytes) {
  std::set_new_handler(OnNoMemory);
  // RLIMIT_DATA counts private writable mappings, VmData is what there is of them.
  return SetDataLimit(StatusBytes("VmData:") + bytes);
}

void UnlimitMemory() {
  // Raising a soft limit to the hard one cannot fail.
  [[maybe_unused]] const absl::Status raised = SetDataLimit(RLIM_INFINITY);
}

}  // namespace sm89
