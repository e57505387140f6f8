// --baseline-record and --baseline-check of sm89-sim: baselines without a server.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/tools/sim_command.h"

namespace sm89 {

// Puts the run that `options` describe and `report_json` reports into options.baseline_record.
// Whether a run can be recorded there, before it is simulated: a baseline or no file yet, in a folder that
// exists and may be written to.
absl::Status CheckRecordable(const std::string& file);

absl::Status RecordBaseline(const SimCommandOptions& options, const std::string& report_json);

// Simulates every run of options.baseline_check, one after another, and prints the comparison. The exit code
// is kExitOk, kExitOutOfBand or, when something could not be compared, kExitBadInput.
absl::StatusOr<int> CheckBaseline(const SimCommandOptions& options, const SimCommandIo& io);

}  // namespace sm89
