// How specs and errors lie in the database. Reading is strict: a row that does not parse is DATA_LOSS.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "server/jobs/job_types.h"

namespace sm89 {

// One spelling for equal specs: also what idempotent submits are compared by.
std::string SpecToJson(const JobSpec& spec);
absl::StatusOr<JobSpec> SpecFromJson(const std::string& json);

// "" for no error.
std::string ErrorToJson(const JobError& error);
absl::StatusOr<JobError> ErrorFromJson(const std::string& json);

// "", "compact", "csv", "jsonl"; and back.
std::string NameOf(SerTraceFormat format);
std::optional<SerTraceFormat> SerTraceFormatOf(const std::string& name);

// JobInputs::sass; "" for none.
std::string CodeInputsToJson(const std::vector<CodeInput>& inputs);
absl::StatusOr<std::vector<CodeInput>> CodeInputsFromJson(const std::string& json);

}  // namespace sm89
