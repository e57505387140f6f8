// Puts a simulated timeline into a host profile of PyTorch (Kineto).
#pragma once

#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "client/kineto/trace_reader.h"

namespace sm89::client {

struct MergeOptions {
  std::string host;       // chrome trace, plain or gzip; read twice
  std::string simulated;  // of this simulator, likewise
  std::string output;     // compressed if the name ends in ".gz"
  // Measured kernels that have a simulated counterpart are left out, so that a launch has one kernel.
  bool replace = false;
  std::stop_token stop = {};  // CANCELLED when it is requested; nothing is left behind
};

// Writes the merged trace and returns the report (client/README.md describes it): what was matched by what,
// and each simulated kernel and each launch that has no counterpart. Memory: about 200 bytes a kernel.
absl::StatusOr<TraceJson> MergeTraces(const MergeOptions& options);

// The report for people, ending with a line break.
std::string MergeReportText(const TraceJson& report);

}  // namespace sm89::client
