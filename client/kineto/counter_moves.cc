#include "client/kineto/counter_moves.h"

#include <algorithm>

#include "client/macros.h"

namespace sm89::client {

CounterMoves::CounterMoves(const SimTimeline& simulated, const Placement& placement, Emit emit)
    : simulated_(simulated), placement_(placement), emit_(std::move(emit)) {
  for (size_t s = 0; s < placement.kernels.size(); ++s) {
    if (placement.kernels[s].alone) alone_.push_back(s);
  }
  std::sort(alone_.begin(), alone_.end(), [&](size_t a, size_t b) {
    return simulated_.kernels[a].start_ns < simulated_.kernels[b].start_ns;
  });
}

absl::Status CounterMoves::Take(const TraceJson& event) {
  const auto start_ns = NsOf(event, "ts");
  if (!start_ns) return absl::InvalidArgumentError("a counter without a time");
  const auto [it, first] =
      standing_.emplace(std::pair(MemberOf(event, "pid"), TextOf(event, "name")), Standing());
  Standing& standing = it->second;
  if (!first) CLIENT_RETURN_IF_ERROR(Move(&standing, *start_ns));
  standing.event = event;
  standing.start_ns = *start_ns;
  return absl::OkStatus();
}

absl::Status CounterMoves::Move(Standing* standing, int64_t end_ns) {
  while (standing->next < alone_.size()) {
    const SimKernel& kernel = simulated_.kernels[alone_[standing->next]];
    const int64_t kernel_end_ns = kernel.start_ns + kernel.duration_ns;
    if (kernel.start_ns >= end_ns) break;
    const int64_t from_ns = std::max(standing->start_ns, kernel.start_ns);
    const int64_t to_ns = std::min(end_ns, kernel_end_ns);
    const int64_t shift_ns = placement_.kernels[alone_[standing->next]].start_ns - kernel.start_ns;
    if (from_ns < to_ns) {
      TraceJson value = standing->event;
      value["ts"] = MicrosecondsOf(from_ns + shift_ns);
      CLIENT_RETURN_IF_ERROR(emit_(std::move(value)));
    }
    if (kernel_end_ns > end_ns) break;
    TraceJson zero = standing->event;
    for (auto& [key, number] : zero["args"].items()) number = 0;
    zero["ts"] = MicrosecondsOf(kernel_end_ns + shift_ns);
    CLIENT_RETURN_IF_ERROR(emit_(std::move(zero)));
    ++standing->next;
  }
  return absl::OkStatus();
}

}  // namespace sm89::client
