// The header of a kernel file: "-key = value" lines before the first line that starts with '#'.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "sim/base/fault.h"
#include "sim/ingest/ingest.h"
#include "sim/trace/trace_types.h"

namespace sm89 {

// How a tracer version writes instruction lines.
struct LineFormat {
  enum class Immediate : uint8_t {
    kNone,      // up to version 3
    kOptional,  // version 4 exists with and without
    kOne,       // version 5
    kTwo,       // version 6, with register values behind
  };
  Immediate immediate = Immediate::kNone;
  bool has_source_line = false;

  friend bool operator==(const LineFormat&, const LineFormat&) = default;
};

struct KernelHeader {
  KernelInfo info;
  LineFormat format;
  std::string assumed;  // optional keys that are absent and were taken as 0, for a warning; "" = none
};

// Collects the header line by line; what is wrong is told at once in Finish. Not thread-safe.
class KernelHeaderParser {
 public:
  // `file` is the plain name for messages and for a kernel without a name.
  explicit KernelHeaderParser(std::string file);

  // A line before the first '#'. Lines that hold no known key are ignored, as every reader does.
  void Line(std::string_view line, uint64_t number);
  // All faults of the header together (missing keys, unreadable or impossible values, versions that are
  // not accepted); empty when the header is good.
  std::vector<Fault> Finish(const IngestOptions& options);
  const KernelHeader& header() const { return header_; }
  // Known keys met so far: 0 means that this is no kernel file.
  size_t num_keys() const { return num_keys_; }

 private:
  KernelHeader header_;
  std::vector<Fault> faults_;
  std::vector<uint64_t> lines_;  // by key: where it was met, 0 = not
  size_t num_keys_ = 0;
};

// "89", or "89, 70, 75, 80, 86, 90" when foreign ones are accepted.
std::string AcceptedVersions(bool foreign_arch);

}  // namespace sm89
