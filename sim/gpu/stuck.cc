// What the watchdog says of a GPU in which nothing moves.
#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "sim/base/counted.h"
#include "sim/base/strings.h"
#include "sim/gpu/gpu.h"
#include "sim/gpu/states_text.h"
#include "sim/stats/pc_profile.h"

namespace sm89 {
namespace {

constexpr uint32_t kMaxWarpsListed = 64;

}  // namespace

std::string StatesText(const std::array<uint64_t, kNumWarpStates>& warps) {
  std::vector<std::pair<uint64_t, size_t>> states;
  uint64_t all = 0;
  for (size_t s = 0; s < warps.size(); ++s) {
    all += warps[s];
    if (warps[s] != 0) states.emplace_back(warps[s], s);
  }
  std::stable_sort(states.begin(), states.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text = Counted(all, "resident warp");
  for (size_t i = 0; i < states.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? ": " : ", ", Av(Name(static_cast<WarpState>(states[i].second))), " ",
                    states[i].first);
  }
  return text;
}

std::string Gpu::BarrierHint() const {
  for (const uint32_t index : active_) {
    const KernelRun& run = *runs_[index];
    if (!run.barriers.unknown) continue;
    const std::string& name = options_.trace->info().kernels[run.trace_kernel].name;
    if (run.barriers.in_registers) {
      return absl::StrCat("; a barrier of kernel '", name,
                          "' has its number or its count of threads in a register, which the model does not "
                          "know: it waits for the whole CTA");
    }
    return absl::StrCat("; the trace does not tell which barriers of kernel '", name,
                        "' are for a part of the CTA, so each waits for all of it: give its cubin or its "
                        "listing with --sass");
  }
  return "";
}

std::string Gpu::DescribeStuck(std::string what) const {
  std::array<uint64_t, kNumWarpStates> states{};
  // Behind everything that ends by itself: what is left then is what nothing resolves.
  for (const auto& sm : sms_) sm->CountStates(kNever, &states);
  absl::StrAppend(&what, "; ", StatesText(states));
  if (states[static_cast<size_t>(WarpState::kBarrier)] != 0) what += BarrierHint();
  what += "\n";
  for (const uint32_t index : active_) {
    const KernelRun& run = *runs_[index];
    absl::StrAppend(&what, "kernel ", run.trace_kernel + 1, " '",
                    options_.trace->info().kernels[run.trace_kernel].name, "': ", run.ctas_done, " of ",
                    run.ctas_total, " CTAs done, ", run.ctas_launched, " launched\n");
  }
  uint32_t lines = 0;
  for (const auto& sm : sms_) {
    if (sm->idle() || lines >= kMaxWarpsListed) continue;
    const std::string warps = sm->DescribeWarps(kNever, kMaxWarpsListed - lines);
    lines += static_cast<uint32_t>(std::count(warps.begin(), warps.end(), '\n'));
    what += warps;
  }
  return what + memory_.DescribeQueues();
}

}  // namespace sm89
