#include "client/kineto/sim_timeline.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/macros.h"

namespace sm89::client {

absl::StatusOr<SimTimeline> ReadSimTimeline(const std::string& path, NameTable* names, std::stop_token stop) {
  SimTimeline timeline;
  TraceVisitor visitor;
  visitor.stop = std::move(stop);
  visitor.on_member = [&](const std::string& key, TraceJson value) {
    if (key == "sm89")
      timeline.identity = std::move(value);
    else if (key == "deviceProperties" && value.is_array() && !value.empty())
      timeline.device = value[0];
    return absl::OkStatus();
  };
  visitor.on_event = [&](const TraceJson& event) -> absl::Status {
    timeline.counters += TextOf(event, "ph") == "C" ? 1 : 0;
    timeline.copies += TextOf(event, "cat") == "gpu_memcpy" ? 1 : 0;
    if (!IsKernelEvent(event)) return absl::OkStatus();
    const auto start = NsOf(event, "ts");
    const auto duration = NsOf(event, "dur");
    if (!start || !duration || *duration < 0) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": a kernel without a time"));
    }
    if (timeline.kernels.size() == kTraceKernelsMax) {
      return absl::ResourceExhaustedError(absl::StrCat(path, ": more than ", kTraceKernelsMax, " kernels"));
    }
    const TraceJson& args = MemberOf(event, "args");
    timeline.kernels.push_back({IntegerOf(args, "correlation", 0), *start, *duration,
                                IntegerOf(args, "stream", 0), IdentityOf(event, names)});
    return absl::OkStatus();
  };
  CLIENT_RETURN_IF_ERROR(ReadTrace(path, visitor));
  if (!timeline.identity.is_object()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": not a timeline of this simulator (made by 'sm89 result JOB --kineto' or 'sm89-sim --kineto')"));
  }
  std::sort(timeline.kernels.begin(), timeline.kernels.end(),
            [](const SimKernel& a, const SimKernel& b) { return a.correlation < b.correlation; });
  const auto twice = std::adjacent_find(
      timeline.kernels.begin(), timeline.kernels.end(),
      [](const SimKernel& a, const SimKernel& b) { return a.correlation == b.correlation; });
  if (twice != timeline.kernels.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": two kernels have the correlation ", twice->correlation));
  }
  return timeline;
}

}  // namespace sm89::client
