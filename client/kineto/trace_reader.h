// Reads a chrome trace event by event: memory holds one event at a time, however large the file.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"

namespace sm89::client {

using TraceJson = nlohmann::ordered_json;

// Of one event or one value of the file's head: its text, to 64 KiB, and how deep it may nest.
inline constexpr size_t kTraceValueBytesMax = size_t{16} << 20;
inline constexpr size_t kTraceDepthMax = 64;

struct TraceVisitor {
  // A member of the outer object but traceEvents, in the order of the file.
  std::function<absl::Status(const std::string& key, TraceJson value)> on_member;
  std::function<absl::Status(TraceJson event)> on_event;
  std::stop_token stop;  // CANCELLED when it is requested
};

// `path`: plain or gzip. Anything but an object with an array traceEvents of objects is INVALID_ARGUMENT with
// line and column; a value beyond the bounds is RESOURCE_EXHAUSTED. An error of the visitor ends the reading.
absl::Status ReadTrace(const std::string& path, const TraceVisitor& visitor);

}  // namespace sm89::client
