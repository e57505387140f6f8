#include "server/worker/attempt_file.h"

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

constexpr char kPrefix[] = "kept-";  // then the process number and the suffix

void RemoveLeftovers(const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    absl::string_view rest = name;
    if (!absl::ConsumePrefix(&rest, kPrefix)) continue;
    int pid = 0;
    if (!absl::SimpleAtoi(rest.substr(0, rest.find('.')), &pid) || pid <= 0) continue;
    if (pid != getpid() && kill(pid, 0) != 0 && errno == ESRCH)
      std::filesystem::remove(entry.path(), ignored);
  }
}

}  // namespace

AttemptFile::AttemptFile(const std::string& folder, const std::string& suffix)
    : path_(absl::StrCat(folder, "/", kPrefix, getpid(), suffix)) {
  RemoveLeftovers(folder);
  // Of an earlier process with this number.
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

AttemptFile::~AttemptFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace sm89
