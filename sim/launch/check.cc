#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/base/round_up.h"
#include "sim/launch/arg_check.h"
#include "sim/launch/launch.h"

namespace sm89::launch {
namespace {

// CUDA C++ programming guide, technical specifications: the same for every compute capability from 5.0 on.
constexpr Dim3 kMaxGrid = {0x7fffffff, 65535, 65535};
constexpr Dim3 kMaxBlock = {1024, 1024, 64};
constexpr uint64_t kMaxThreads = 1024;
constexpr uint64_t kWarpThreads = kWarpSize;
// Registers of an SM, and the granules of their allocation: 256 a warp, warps in fours (CUDA occupancy
// calculator, compute capability 8.x and 9.0).
constexpr uint64_t kSmRegisters = 65536;
constexpr uint64_t kRegisterGranule = 256;
constexpr uint64_t kWarpGranule = 4;

class LaunchCheck {
 public:
  LaunchCheck(const LaunchSpec& spec, const cubin::Function& function) : spec_(spec), function_(function) {}

  void Dimensions() {
    Dimension("grid", spec_.grid, kMaxGrid);
    Dimension("block", spec_.block, kMaxBlock);
    const uint64_t threads = SaturatingVolume(spec_.block);
    if (threads > kMaxThreads) {
      Add("block", absl::StrCat(threads), absl::StrCat("at most ", kMaxThreads),
          "too many threads in a block");
      return;
    }
    const uint64_t bound =
        function_.max_threads.has_value() ? SaturatingVolume(*function_.max_threads) : kMaxThreads;
    if (threads > bound) {
      Add("block", absl::StrCat(threads), absl::StrCat("at most ", bound),
          "more threads than the kernel's launch bounds allow");
    }
    const uint64_t warps = RoundUp<uint64_t>((threads + kWarpThreads - 1) / kWarpThreads, kWarpGranule);
    const uint64_t registers =
        warps * RoundUp<uint64_t>(function_.registers * kWarpThreads, kRegisterGranule);
    if (registers > kSmRegisters) {
      Add("block", absl::StrCat(threads),
          absl::StrCat("at most ", kSmRegisters, " registers, the block needs ", registers),
          absl::StrCat("too many threads for a kernel of ", function_.registers, " registers a thread"));
    }
  }

  void SharedMemory(uint32_t arch) {
    const uint64_t bound = MaxSharedBytes(arch);
    const uint64_t fixed = function_.static_shared_bytes;
    if (fixed + spec_.dynamic_shared_bytes <= bound) return;
    Add("dynamic_smem", absl::StrCat(spec_.dynamic_shared_bytes),
        absl::StrCat("at most ", bound - std::min(bound, fixed), " bytes: sm_", arch, " has ", bound,
                     " a block, the kernel itself takes ", fixed),
        "too much shared memory");
  }

  void Buffers(const LaunchLimits& limits) {
    uint64_t total = 0;
    for (const BufferSpec& buffer : spec_.buffers) {
      const uint64_t bytes = buffer.size_bytes();
      total = bytes > ~uint64_t{0} - total ? ~uint64_t{0} : total + bytes;
    }
    if (total <= limits.buffer_bytes) return;
    Add("args", absl::StrCat(total), absl::StrCat("at most ", limits.buffer_bytes, " bytes in all buffers"),
        "the buffers are too large");
  }

  void Arguments() {
    for (Fault& fault : FaultsOfArgs(function_, spec_)) faults_.push_back(std::move(fault));
  }

  absl::Status Finish() const {
    if (faults_.empty()) return absl::OkStatus();
    return InputError(
        absl::StatusCode::kInvalidArgument,
        faults_.size() == 1 ? "" : absl::StrCat("launch ", spec_.id, ": ", faults_.size(), " faults"),
        faults_);
  }

 private:
  void Dimension(const std::string& key, const Dim3& dims, const Dim3& most) {
    const std::array<std::pair<uint32_t, uint32_t>, 3> parts = {
        {{dims.x, most.x}, {dims.y, most.y}, {dims.z, most.z}}};
    for (size_t i = 0; i < parts.size(); ++i) {
      const auto [value, bound] = parts[i];
      if (value >= 1 && value <= bound) continue;
      Add(absl::StrCat(key, "[", i, "]"), absl::StrCat(value), absl::StrCat("1 to ", bound),
          absl::StrCat("the ", key, " is not possible"));
    }
  }

  void Add(const std::string& field, const std::string& value, const std::string& expected,
           const std::string& message) {
    faults_.push_back({.file = spec_.file,
                       .line = spec_.line,
                       .field = field,
                       .value = value,
                       .expected = expected,
                       .message = absl::StrCat("launch \"", spec_.id, "\": ", message)});
  }

  const LaunchSpec& spec_;
  const cubin::Function& function_;
  std::vector<Fault> faults_;
};

}  // namespace

uint64_t MaxSharedBytes(uint32_t arch) {
  if (arch == 80 || arch == 87) return 163 * 1024;
  if (arch == 90) return 227 * 1024;
  return 99 * 1024;
}

absl::Status CheckLaunch(const LaunchSpec& spec, const cubin::Function& function, uint32_t arch,
                         const LaunchLimits& limits) {
  LaunchCheck check(spec, function);
  check.Dimensions();
  check.SharedMemory(arch);
  check.Buffers(limits);
  check.Arguments();
  return check.Finish();
}

}  // namespace sm89::launch
