// The reordering stage's decisions (sim/sm/SER.md) as bytes: CSV, JSON lines, or compact: zstd frames of
// fixed rows, about a tenth of the CSV.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/stats/ser_record.h"
#include "sim/stats/ser_trace_format.h"

namespace sm89 {

// Gives its bytes to `sink` in pieces of about 1 MiB, none before Append or Finish. Once the sink has said
// false nothing more is written.
class SerTraceWriter {
 public:
  SerTraceWriter(SerTraceFormat format, std::function<bool(std::string_view)> sink);
  // False when the sink has had enough.
  bool Append(std::span<const SerRecord> records);
  // The rest, once; the bytes are whole once this is true. Ends the compact form with the number of its rows.
  bool Finish();

 private:
  void Flush();

  const SerTraceFormat format_;
  const std::function<bool(std::string_view)> sink_;
  std::string pending_;
  bool good_ = true;
  bool began_ = false;  // compact: the magic is written
  uint64_t rows_ = 0;
};

// The records of a compact file. DATA_LOSS names the offset, also where the end record is missing, counts
// other rows or has bytes behind it; files beyond `max_records` are refused.
absl::StatusOr<std::vector<SerRecord>> ReadSerTrace(std::string_view bytes, uint64_t max_records);

}  // namespace sm89
