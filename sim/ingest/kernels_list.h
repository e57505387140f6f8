// The kernels list: one command a line (kernelslist.g as the post-processing writes it).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/ingest/ingest_context.h"
#include "sim/ingest/line_reader.h"
#include "sim/trace/trace_types.h"

namespace sm89 {

// A kernel line: the plain file name and where it stands.
struct ListedKernel {
  std::string file;
  uint32_t line = 0;
};

struct KernelsList {
  std::string file;                    // the list's own name
  std::vector<TraceCommand> commands;  // kernel commands index `kernels`
  std::vector<ListedKernel> kernels;
};

// Reads the whole list. All malformed lines are reported together (INVALID_ARGUMENT); lines that no
// simulator can act on become kIgnored commands and warnings. A list without a kernel is refused.
absl::StatusOr<KernelsList> ReadKernelsList(LineReader& reader, IngestContext& context);

// True for a name that a trace file has: ".traceg", ".trace" or ".tracez", maybe packed.
bool HasTraceSuffix(std::string_view name);

}  // namespace sm89
