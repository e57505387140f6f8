#include "client/kineto/host_profile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/macros.h"

namespace sm89::client {
namespace {

constexpr double kMaxMicroseconds = 3.2e15;  // 100 years

bool IsRuntimeCall(const TraceJson& event) {
  const std::string category = TextOf(event, "cat");
  return category == "cuda_runtime" || category == "cuda_driver" || category == "Runtime";
}

bool IsGraphLaunch(const std::string& name) { return name.find("GraphLaunch") != std::string::npos; }

bool IsKernelLaunch(const std::string& name) {
  return name.find("LaunchKernel") != std::string::npos ||
         name.find("LaunchCooperativeKernel") != std::string::npos || IsGraphLaunch(name);
}

class Reader {
 public:
  Reader(const std::string& path, NameTable* names) : path_(path), names_(names) {}

  absl::StatusOr<HostProfile> Read(std::stop_token stop) {
    TraceVisitor visitor;
    visitor.stop = std::move(stop);
    visitor.on_member = [](const std::string&, const TraceJson&) { return absl::OkStatus(); };
    visitor.on_event = [this](const TraceJson& event) { return Take(event); };
    CLIENT_RETURN_IF_ERROR(ReadTrace(path_, visitor));
    Order();
    return std::move(profile_);
  }

 private:
  absl::Status Take(const TraceJson& event) {
    ++profile_.events;
    const TraceJson& pid = MemberOf(event, "pid");
    if (pid.is_number_integer()) profile_.pids.insert(pid.get<int64_t>());
    profile_.id_max = std::max(profile_.id_max, IntegerOf(event, "id", 0));
    const auto start = NsOf(event, "ts");
    const auto duration = NsOf(event, "dur");
    if (TextOf(event, "ph") != "X" || !start || !duration) return absl::OkStatus();
    profile_.start_ns = timed_ ? std::min(profile_.start_ns, *start) : *start;
    profile_.end_ns = std::max(profile_.end_ns, *start + *duration);
    timed_ = true;
    const TraceJson& args = MemberOf(event, "args");
    const int64_t correlation = IntegerOf(args, "correlation", -1);
    profile_.id_max = std::max(profile_.id_max, correlation);
    const int64_t external = IntegerOf(args, "External id", -1);
    if (IsKernelEvent(event)) {
      profile_.kernels.push_back(
          {correlation, *start, *duration, RowOf(event), external, IdentityOf(event, names_)});
    } else if (const std::string name = TextOf(event, "name");
               correlation >= 0 && IsRuntimeCall(event) && IsKernelLaunch(name)) {
      profile_.launches.push_back({correlation, *start, *start + *duration, RowOf(event), external,
                                   IsGraphLaunch(name), /*ran=*/false});
    }
    if (std::max(profile_.launches.size(), profile_.kernels.size()) <= kTraceKernelsMax) {
      return absl::OkStatus();
    }
    return absl::ResourceExhaustedError(absl::StrCat(path_, ": more than ", kTraceKernelsMax, " kernels"));
  }

  size_t RowOf(const TraceJson& event) {
    const TraceRow row{MemberOf(event, "pid"), MemberOf(event, "tid")};
    const auto [it, added] = rows_.emplace(row, profile_.rows.size());
    if (added) profile_.rows.push_back(row);
    return it->second;
  }

  void Order() {
    std::unordered_map<int64_t, size_t> launch_of;  // correlation
    for (size_t i = 0; i < profile_.launches.size(); ++i) {
      launch_of.emplace(profile_.launches[i].correlation, i);
    }
    for (size_t k = 0; k < profile_.kernels.size(); ++k) {
      const auto launch = launch_of.find(profile_.kernels[k].correlation);
      const bool known = launch != launch_of.end();
      if (known) profile_.launches[launch->second].ran = true;
      profile_.order.push_back({known ? launch->second : kNoIndex, k});
    }
    for (size_t i = 0; i < profile_.launches.size(); ++i) {
      const HostLaunch& launch = profile_.launches[i];
      // Of a graph launch without kernels nobody knows how many there were.
      if (!launch.ran && !launch.graph) profile_.order.push_back({i, kNoIndex});
    }
    const auto key = [this](const HostEntry& entry) {
      const int64_t kernel_ns = entry.kernel == kNoIndex ? 0 : profile_.kernels[entry.kernel].start_ns;
      const int64_t launch_ns =
          entry.launch == kNoIndex ? kernel_ns : profile_.launches[entry.launch].start_ns;
      return std::tuple(launch_ns, kernel_ns, entry.kernel);
    };
    std::sort(profile_.order.begin(), profile_.order.end(),
              [&](const HostEntry& a, const HostEntry& b) { return key(a) < key(b); });
  }

  const std::string& path_;
  NameTable* names_;
  HostProfile profile_;
  bool timed_ = false;
  std::map<TraceRow, size_t> rows_;
};

}  // namespace

std::optional<int64_t> NsOf(const TraceJson& event, const char* key) {
  const TraceJson& value = MemberOf(event, key);
  if (!value.is_number()) return {};
  const double us = value.get<double>();
  if (!(std::abs(us) < kMaxMicroseconds)) return {};
  if (value.is_number_integer()) return value.get<int64_t>() * 1000;
  return std::llround(us * 1000);
}

TraceJson MicrosecondsOf(int64_t ns) {
  if (ns % 1000 == 0) return ns / 1000;
  return static_cast<double>(ns) / 1000;
}

const TraceJson& MemberOf(const TraceJson& object, const char* key) {
  static const TraceJson* const kNone = new TraceJson();
  if (!object.is_object()) return *kNone;
  const auto member = object.find(key);
  return member == object.end() ? *kNone : *member;
}

int64_t IntegerOf(const TraceJson& object, const char* key, int64_t otherwise) {
  const TraceJson& value = MemberOf(object, key);
  if (!value.is_number_integer()) return otherwise;
  if (value.is_number_unsigned() && value.get<uint64_t>() > std::numeric_limits<int64_t>::max() / 2) {
    return otherwise;
  }
  return value.get<int64_t>();
}

std::string TextOf(const TraceJson& object, const char* key) {
  const TraceJson& value = MemberOf(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool IsKernelEvent(const TraceJson& event) {
  const std::string category = TextOf(event, "cat");
  return (category == "kernel" || category == "Kernel") && TextOf(event, "ph") == "X";
}

KernelIdentity IdentityOf(const TraceJson& event, NameTable* names) {
  KernelIdentity identity;
  identity.name = names->Add(TextOf(event, "name"));
  const TraceJson& args = MemberOf(event, "args");
  size_t i = 0;
  for (const char* key : {"grid", "block"}) {
    const TraceJson& sizes = MemberOf(args, key);
    for (size_t axis = 0; axis < 3; ++axis, ++i) {
      const bool there = sizes.is_array() && axis < sizes.size() && sizes[axis].is_number_unsigned();
      identity.shape[i] = there ? sizes[axis].get<uint32_t>() : 0;
    }
  }
  return identity;
}

absl::StatusOr<HostProfile> ReadHostProfile(const std::string& path, NameTable* names, std::stop_token stop) {
  return Reader(path, names).Read(std::move(stop));
}

}  // namespace sm89::client
