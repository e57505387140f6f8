#include "server/worker/kept_trace.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace sm89 {
namespace {

constexpr char kPrefix[] = "kept-";  // then the process number and a suffix

void RemoveLeftovers(const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    absl::string_view rest = name;
    if (!absl::ConsumePrefix(&rest, kPrefix)) continue;
    int pid = 0;
    if (!absl::SimpleAtoi(rest.substr(0, rest.find('.')), &pid) || pid <= 0) continue;
    const bool gone = pid == getpid() || (kill(pid, 0) != 0 && errno == ESRCH);
    if (gone) std::filesystem::remove(entry.path(), ignored);
  }
}

}  // namespace

KeptTrace::KeptTrace(const std::string& folder)
    : path_(absl::StrCat(folder, "/", kPrefix, getpid(), ".sm89t")) {
  RemoveLeftovers(folder);
}

KeptTrace::~KeptTrace() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace sm89
