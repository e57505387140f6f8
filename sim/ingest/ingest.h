// Text traces in, compact trace out: finds the list, checks that everything it names is there, unpacks in
// bounded memory, validates every line, refuses what the model cannot honestly run.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/trace/compact_writer.h"
#include "sim/trace/trace_types.h"

namespace sm89 {

struct IngestOptions {
  bool foreign_arch = false;    // accept binary versions 70, 75, 80, 86, 90
  bool allow_partial = false;   // accept missing CTAs / truncated kernels; marks the result
  bool unknown_as_nop = false;  // treat unknown opcodes as NOP; marks the result
  uint64_t max_unpacked_bytes = uint64_t{1} << 40;  // of everything the input unpacks to
  uint64_t max_archive_members = 200'000;
  const std::atomic<bool>* cancel = nullptr;  // polled at least every 100 ms of work
  // Called now and then with (compressed bytes read, of all); may be empty.
  std::function<void(uint64_t done, uint64_t total)> progress;
};

struct IngestResult {
  TraceSetInfo info;
  WrittenTrace written;
  uint64_t input_bytes = 0;
};

// `input`: a folder (its kernelslist.g is looked for), a list file, one kernel file (.traceg[.xz|.gz|.zst],
// .tracez, .trace), or an archive (tar[.gz|.xz|.zst|.bz2], zip) of a folder. Errors are InputError statuses:
//   INVALID_ARGUMENT   malformed or unsupported content (faults name file, line, field, value, expected)
//   NOT_FOUND          files that the list names are absent (one fault each)
//   RESOURCE_EXHAUSTED a bound was reached (which, and its value)
//   CANCELLED
absl::StatusOr<IngestResult> IngestTrace(const std::string& input, const std::string& output_path,
                                         const IngestOptions& options);

// True when `path` is already a compact trace (by magic).
bool IsCompactTrace(const std::string& path);

}  // namespace sm89
