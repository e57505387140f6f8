// The file of a run's reordering decisions (sim/sm/SER.md): by its name CSV (.csv), JSON lines (.jsonl), or
// compact: zstd frames of fixed rows, about a tenth of the CSV. Standard output ("-") gets CSV.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/stats/ser_record.h"
#include "sim/tools/sim_output.h"

namespace sm89 {

class SerTraceFile {
 public:
  enum class Format : uint8_t { kCompact, kCsv, kJsonLines };

  static absl::StatusOr<std::unique_ptr<SerTraceFile>> Create(const std::string& path,
                                                              std::ostream& standard_out);
  // Keeps the first error for Finish; after it nothing is written.
  void Append(std::span<const SerRecord> records);
  // The file is there once this is OK.
  absl::Status Finish();
  uint64_t num_records() const { return num_records_; }

 private:
  void Flush();

  Format format_ = Format::kCompact;
  std::unique_ptr<ResultOutput> file_;
  std::string pending_;
  uint64_t num_records_ = 0;
  absl::Status status_;
};

// The records of a compact file. DATA_LOSS names the offset; files beyond `max_records` are refused.
absl::StatusOr<std::vector<SerRecord>> ReadSerTrace(std::string_view bytes, uint64_t max_records);

}  // namespace sm89
