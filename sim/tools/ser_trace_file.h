// The file of a run's reordering decisions (sim/report/ser_trace.h): by its name CSV (.csv), JSON lines
// (.jsonl), or compact. Standard output ("-") gets CSV.
#pragma once

#include <iosfwd>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/report/ser_trace.h"
#include "sim/tools/sim_output.h"

namespace sm89 {

class SerTraceFile {
 public:
  static absl::StatusOr<std::unique_ptr<SerTraceFile>> Create(const std::string& path,
                                                              std::ostream& standard_out);
  SerTraceFile(SerTraceFormat format, std::unique_ptr<ResultOutput> file);
  // Keeps the first error for Finish; after it nothing is written.
  void Append(std::span<const SerRecord> records) { writer_.Append(records); }
  // The file is there once this is OK.
  absl::Status Finish();

 private:
  std::unique_ptr<ResultOutput> file_;
  absl::Status status_;
  SerTraceWriter writer_;
};

}  // namespace sm89
