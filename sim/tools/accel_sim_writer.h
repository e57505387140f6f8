// A trace source as the text that Accel-Sim's simulator reads: kernelslist.g and one kernel-N.traceg a
// kernel.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "sim/trace/trace_source.h"

namespace sm89 {

// Makes `folder` (its parent must exist), or fills an empty one. ALREADY_EXISTS when something is in it.
absl::Status WriteAccelSimFolder(TraceSource& source, const std::string& folder);

}  // namespace sm89
