// What a merge must know of a host profile: kernel launches, and the kernels that the GPU ran for them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/kineto/kernel_match.h"
#include "client/kineto/trace_reader.h"

namespace sm89::client {

// Of launches, and of kernels, of one file.
inline constexpr size_t kTraceKernelsMax = 4'000'000;

inline constexpr size_t kNoIndex = ~size_t{0};

// A row of a trace viewer: pid and tid are numbers or texts.
struct TraceRow {
  TraceJson pid, tid;
  friend bool operator<(const TraceRow& a, const TraceRow& b) {
    return a.pid != b.pid ? a.pid < b.pid : a.tid < b.tid;
  }
};

struct HostLaunch {
  int64_t correlation = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  size_t row = 0;
  int64_t external_id = -1;  // of the PyTorch operation; -1 = none
  bool graph = false;        // launches many kernels
  bool ran = false;          // the profile has a kernel of it
};

struct HostKernel {
  int64_t correlation = -1;
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  size_t row = 0;  // device and stream
  int64_t external_id = -1;
  KernelIdentity identity;
};

// One kernel launch in the order of launch: with its kernel, with its call, or both.
struct HostEntry {
  size_t launch = kNoIndex;
  size_t kernel = kNoIndex;
};

struct HostProfile {
  uint64_t events = 0;
  std::vector<TraceRow> rows;
  std::vector<HostLaunch> launches;  // in the order of the file, as the next
  std::vector<HostKernel> kernels;
  std::vector<HostEntry> order;
  int64_t start_ns = 0;  // of the first event with a duration
  int64_t end_ns = 0;
  std::set<int64_t> pids;  // whole numbers in use
  int64_t id_max = 0;      // of correlations and flows
};

// Times are whole nanoseconds; none for what is no number or beyond 100 years.
std::optional<int64_t> NsOf(const TraceJson& event, const char* key);
// As the JSON number that reads back to it.
TraceJson MicrosecondsOf(int64_t ns);
// A member of event.args or of the event itself; null when it is not there.
const TraceJson& MemberOf(const TraceJson& object, const char* key);
int64_t IntegerOf(const TraceJson& object, const char* key, int64_t otherwise);
std::string TextOf(const TraceJson& object, const char* key);
bool IsKernelEvent(const TraceJson& event);
// Name, grid and block of a kernel event.
KernelIdentity IdentityOf(const TraceJson& event, NameTable* names);

absl::StatusOr<HostProfile> ReadHostProfile(const std::string& path, NameTable* names, std::stop_token stop);

}  // namespace sm89::client
