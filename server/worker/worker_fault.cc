#include "server/worker/worker_fault.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "sim/base/assert.h"
#include "sim/base/strings.h"

namespace sm89 {
namespace {

constexpr std::array<std::pair<std::string_view, WorkerFault::Kind>, 6> kKinds = {{
    {"crash", WorkerFault::Kind::kCrash},
    {"abort", WorkerFault::Kind::kAbort},
    {"exit", WorkerFault::Kind::kExit},
    {"hang", WorkerFault::Kind::kHang},
    {"oom", WorkerFault::Kind::kOutOfMemory},
    {"slow", WorkerFault::Kind::kSlow},
}};
constexpr int kFaultExitCode = 3;

[[noreturn]] void AllocateAll() {
  constexpr size_t kBlockBytes = size_t{16} << 20;
  std::vector<std::unique_ptr<char[]>> blocks;
  for (;;) blocks.push_back(std::make_unique<char[]>(kBlockBytes));  // zeroed: really taken
}

}  // namespace

absl::StatusOr<WorkerFault> WorkerFault::Parse(const std::string& text) {
  WorkerFault fault;
  if (text.empty()) return fault;
  const std::vector<std::string> parts = absl::StrSplit(text, '@');
  for (const auto& [name, kind] : kKinds) {
    if (parts[0] == name) fault.kind_ = kind;
  }
  if (parts.size() != 2 || fault.kind_ == Kind::kNone || !absl::SimpleAtoi(parts[1], &fault.cycle_)) {
    return absl::InvalidArgumentError(absl::StrCat("SM89_WORKER_FAULT: '", text, "' is not KIND@CYCLE"));
  }
  return fault;
}

void WorkerFault::At(uint64_t cycle) const {
  if (kind_ == Kind::kNone || cycle < cycle_) return;
  switch (kind_) {
    case Kind::kNone:
      return;
    case Kind::kCrash:
      raise(SIGSEGV);
      return;
    case Kind::kAbort:
      AssertionFailed("false", "SM89_WORKER_FAULT", 0, "asked for by a test");
    case Kind::kExit:
      _exit(kFaultExitCode);
    case Kind::kHang:
      for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    case Kind::kOutOfMemory:
      AllocateAll();
    case Kind::kSlow:
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return;
  }
}

}  // namespace sm89
