#include "client/kineto/merge.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/kineto/counter_moves.h"
#include "client/kineto/gz_file.h"
#include "client/kineto/merge_report.h"
#include "client/macros.h"

namespace sm89::client {
namespace {

constexpr int64_t kSimulatedSortIndex =
    5'100'000;  // below the host's devices, which Kineto puts at 5,000,000
constexpr char kSmProcess[] = "SMs";

std::string Dump(const TraceJson& value) {
  return value.dump(-1, ' ', false, TraceJson::error_handler_t::replace);
}

class Merger {
 public:
  explicit Merger(const MergeOptions& options) : options_(options) {}

  absl::StatusOr<TraceJson> Run() {
    CLIENT_ASSIGN_OR_RETURN(in_.host, ReadHostProfile(options_.host, &in_.names, options_.stop));
    CLIENT_ASSIGN_OR_RETURN(in_.simulated, ReadSimTimeline(options_.simulated, &in_.names, options_.stop));
    std::vector<KernelIdentity> launches, kernels;
    for (const HostEntry& entry : in_.host.order) {
      launches.push_back(entry.kernel == kNoIndex ? KernelIdentity{.named = false}
                                                  : in_.host.kernels[entry.kernel].identity);
    }
    for (const SimKernel& kernel : in_.simulated.kernels) kernels.push_back(kernel.identity);
    in_.matches = MatchKernels(in_.names, kernels, launches);
    in_.placement = Place(in_.host, in_.simulated, in_.matches);
    ChooseDevice();
    if (options_.replace) FindReplaced();
    CLIENT_ASSIGN_OR_RETURN(output_, GzOutput::Create(options_.output));
    CLIENT_RETURN_IF_ERROR(Write());
    TraceJson report = MergeReport(in_);
    CLIENT_RETURN_IF_ERROR(Tail(report));
    CLIENT_RETURN_IF_ERROR(output_->Commit());
    return report;
  }

 private:
  // The first number above those of the host's devices that no process of the host has.
  void ChooseDevice() {
    int64_t highest = -1;
    for (const HostKernel& kernel : in_.host.kernels) {
      const TraceJson& pid = in_.host.rows[kernel.row].pid;
      if (pid.is_number_integer()) highest = std::max(highest, pid.get<int64_t>());
    }
    device_ = highest + 1;
    while (in_.host.pids.contains(device_)) ++device_;
    next_id_ = in_.host.id_max + 1;
  }

  void FindReplaced() {
    replaced_.assign(in_.host.kernels.size(), false);
    for (const Match& match : in_.matches) {
      if (match.host == kNoMatch || in_.host.order[match.host].kernel == kNoIndex) continue;
      replaced_[in_.host.order[match.host].kernel] = true;
      ++in_.replaced;
    }
    for (size_t k = 0; k < replaced_.size(); ++k) {
      if (replaced_[k]) replaced_correlations_.insert(in_.host.kernels[k].correlation);
    }
    for (size_t k = 0; k < replaced_.size(); ++k) {  // of graphs: some of a launch's kernels may stay
      if (!replaced_[k]) replaced_correlations_.erase(in_.host.kernels[k].correlation);
    }
  }

  absl::Status Write() {
    CLIENT_RETURN_IF_ERROR(output_->Write("{"));
    TraceVisitor visitor;
    visitor.stop = options_.stop;
    visitor.on_member = [this](const std::string& key, TraceJson value) {
      return Member(key, std::move(value));
    };
    visitor.on_event = [this](TraceJson event) { return HostEvent(std::move(event)); };
    CLIENT_RETURN_IF_ERROR(ReadTrace(options_.host, visitor));
    CLIENT_RETURN_IF_ERROR(BeginEvents());
    CLIENT_RETURN_IF_ERROR(Names());
    CounterMoves counters(in_.simulated, in_.placement, [this](TraceJson event) {
      if (event["pid"].is_number()) event["pid"] = device_;
      return Event(event);
    });
    visitor.on_member = [](const std::string&, const TraceJson&) { return absl::OkStatus(); };
    visitor.on_event = [&](TraceJson event) -> absl::Status {
      if (TextOf(event, "ph") == "C") return counters.Take(event);
      return IsKernelEvent(event) ? Kernel(std::move(event)) : absl::OkStatus();
    };
    return ReadTrace(options_.simulated, visitor);
  }

  // Members of the host's outer object may stand before and behind its events.
  absl::Status Member(const std::string& key, TraceJson value) {
    if (key == "deviceProperties" && value.is_array()) {
      TraceJson own = in_.simulated.device;
      own["id"] = device_;
      value.push_back(std::move(own));
      saw_devices_ = true;
    }
    if (!in_events_) return MemberText(key, value);
    late_members_.emplace_back(key, std::move(value));
    return absl::OkStatus();
  }

  absl::Status MemberText(const std::string& key, const TraceJson& value) {
    const char* const separator = std::exchange(first_member_, false) ? "\n " : ",\n ";
    return output_->Write(absl::StrCat(separator, Dump(key), ": ", Dump(value)));
  }

  absl::Status BeginEvents() {
    if (std::exchange(in_events_, true)) return absl::OkStatus();
    const char* const separator = std::exchange(first_member_, false) ? "\n " : ",\n ";
    return output_->Write(absl::StrCat(separator, "\"traceEvents\": ["));
  }

  absl::Status Event(const TraceJson& event) {
    CLIENT_RETURN_IF_ERROR(BeginEvents());
    return output_->Write(absl::StrCat(std::exchange(first_event_, false) ? "\n  " : ",\n  ", Dump(event)));
  }

  absl::Status HostEvent(TraceJson event) {
    if (options_.replace) {
      const bool timed = IsKernelEvent(event) && NsOf(event, "ts") && NsOf(event, "dur");
      if (timed && replaced_[kernels_seen_++]) return absl::OkStatus();
      const bool arrow_end = TextOf(event, "ph") == "f" && TextOf(event, "cat") == "ac2g";
      if (arrow_end && replaced_correlations_.contains(IntegerOf(event, "id", -1))) return absl::OkStatus();
    }
    return Event(event);
  }

  absl::Status Named(const char* what, const TraceJson& pid, int64_t tid, TraceJson args) {
    TraceJson event = {{"name", what}, {"ph", "M"}, {"ts", MicrosecondsOf(in_.host.start_ns)}};
    event["pid"] = pid;
    event["tid"] = tid;
    event["args"] = std::move(args);
    return Event(event);
  }

  absl::Status Names() {
    const std::string name = TextOf(in_.simulated.device, "name");
    CLIENT_RETURN_IF_ERROR(Named("process_name", device_, 0, {{"name", name}}));
    CLIENT_RETURN_IF_ERROR(
        Named("process_labels", device_, 0, {{"labels", absl::StrCat("GPU ", device_, " (simulated)")}}));
    CLIENT_RETURN_IF_ERROR(Named("process_sort_index", device_, 0, {{"sort_index", kSimulatedSortIndex}}));
    for (const auto& [tid, track] : in_.placement.tracks) {
      CLIENT_RETURN_IF_ERROR(Named("thread_name", device_, tid, {{"name", track}}));
      CLIENT_RETURN_IF_ERROR(Named("thread_sort_index", device_, tid, {{"sort_index", tid}}));
    }
    if (in_.simulated.counters == 0) return absl::OkStatus();
    CLIENT_RETURN_IF_ERROR(Named("process_name", kSmProcess, 0, {{"name", "SMs (simulated)"}}));
    return Named("process_sort_index", kSmProcess, 0, {{"sort_index", kSimulatedSortIndex + 1}});
  }

  size_t IndexOf(int64_t correlation) const {
    const auto& kernels = in_.simulated.kernels;
    const auto at =
        std::lower_bound(kernels.begin(), kernels.end(), correlation,
                         [](const SimKernel& kernel, int64_t wanted) { return kernel.correlation < wanted; });
    return static_cast<size_t>(at - kernels.begin());
  }

  absl::Status Kernel(TraceJson event) {
    const size_t s = IndexOf(IntegerOf(event["args"], "correlation", 0));
    const Match& match = in_.matches[s];
    const PlacedKernel& placed = in_.placement.kernels[s];
    event["pid"] = device_;
    event["tid"] = placed.track;
    event["ts"] = MicrosecondsOf(placed.start_ns);
    TraceJson& args = event["args"];
    args["device"] = device_;
    args["stream"] = placed.track;
    args["matched by"] = Name(match.kind);
    if (match.host == kNoMatch) {
      args["correlation"] = next_id_++;
      return Event(event);
    }
    const HostEntry& entry = in_.host.order[match.host];
    const HostKernel* measured = entry.kernel == kNoIndex ? nullptr : &in_.host.kernels[entry.kernel];
    const HostLaunch* launch = entry.launch == kNoIndex ? nullptr : &in_.host.launches[entry.launch];
    args["correlation"] = launch != nullptr ? launch->correlation : measured->correlation;
    const int64_t external = measured != nullptr && measured->external_id >= 0 ? measured->external_id
                             : launch != nullptr                               ? launch->external_id
                                                                               : -1;
    if (external >= 0) args["External id"] = external;
    if (measured != nullptr) args["measured dur (us)"] = MicrosecondsOf(measured->duration_ns);
    CLIENT_RETURN_IF_ERROR(Event(event));
    return launch != nullptr ? Arrow(*launch, measured, placed) : absl::OkStatus();
  }

  // From the launch call to the simulated kernel.
  absl::Status Arrow(const HostLaunch& launch, const HostKernel* measured, const PlacedKernel& placed) {
    // The host's arrow has lost its end: ours takes its place. Else both kernels have one.
    const bool take_over = measured != nullptr && replaced_correlations_.contains(launch.correlation);
    const int64_t id = take_over ? launch.correlation : next_id_++;
    const TraceRow& row = in_.host.rows[launch.row];
    if (!take_over) {
      TraceJson start = {{"ph", "s"}, {"id", id}, {"pid", row.pid}, {"tid", row.tid}};
      start["ts"] = MicrosecondsOf(launch.start_ns);
      start["cat"] = start["name"] = "ac2g";
      CLIENT_RETURN_IF_ERROR(Event(start));
    }
    TraceJson end = {{"ph", "f"}, {"id", id}, {"pid", device_}, {"tid", placed.track}};
    end["ts"] = MicrosecondsOf(placed.start_ns);
    end["cat"] = end["name"] = "ac2g";
    end["bp"] = "e";
    return Event(end);
  }

  absl::Status Tail(const TraceJson& report) {
    CLIENT_RETURN_IF_ERROR(output_->Write("\n ]"));
    for (const auto& [key, value] : late_members_) CLIENT_RETURN_IF_ERROR(MemberText(key, value));
    if (!saw_devices_) {
      TraceJson own = in_.simulated.device;
      own["id"] = device_;
      CLIENT_RETURN_IF_ERROR(MemberText("deviceProperties", TraceJson::array({std::move(own)})));
    }
    CLIENT_RETURN_IF_ERROR(MemberText("sm89", in_.simulated.identity));
    CLIENT_RETURN_IF_ERROR(MemberText("sm89_merge", MergeSummary(report)));
    return output_->Write("\n}\n");
  }

  const MergeOptions& options_;
  MergeInputs in_;
  int64_t device_ = 0;          // pid of the simulated GPU
  int64_t next_id_ = 1;         // of correlations and arrows
  std::vector<bool> replaced_;  // by measured kernel
  std::set<int64_t> replaced_correlations_;
  size_t kernels_seen_ = 0;
  std::unique_ptr<GzOutput> output_;
  std::vector<std::pair<std::string, TraceJson>> late_members_;
  bool first_member_ = true, first_event_ = true, in_events_ = false, saw_devices_ = false;
};

}  // namespace

absl::StatusOr<TraceJson> MergeTraces(const MergeOptions& options) { return Merger(options).Run(); }

}  // namespace sm89::client
