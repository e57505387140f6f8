// Errors of the service as absl::Status: the code is the RPC's code, the message is for people, and the
// typed detail (reason, faults with file and line) rides along as a payload.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sm89/v1/common.pb.h"

namespace sm89::client {

// The detail of a status made by this library or decoded from an RPC; nothing when there is none.
std::optional<v1::ErrorDetail> DetailOf(const absl::Status& status);

// `status` with `detail` attached (replaces an earlier one). An OK status stays as it is.
absl::Status WithDetail(absl::Status status, const v1::ErrorDetail& detail);

// An error of this client about the user's input: INVALID_ARGUMENT with `reason` and one fault an entry.
absl::Status InputError(const std::string& reason, const std::string& message,
                        const std::vector<v1::Fault>& faults);

// What an RPC ended with. `details` are the bytes of "grpc-status-details-bin" (may be empty or garbage: then
// code and message stand alone).
absl::Status DecodeStatus(int code, const std::string& message, const std::string& details);

// The status that a failed job or an invalid trace stands for.
absl::Status FromRecordedError(const std::string& code_name, const std::string& message,
                               const v1::ErrorDetail& detail);

// "file:line: message (field 'f' = 'v', expected e)". Parts that are absent are left out.
std::string FormatFault(const v1::Fault& fault);

// True when a fault names a file: the status is about the content of an input, not about a name on the
// server.
bool IsAboutFiles(const absl::Status& status);

// How many faults there are in all. An RPC's error holds only as many as fit ("faults_total" says how many
// there are); those of a trace or a job hold more.
uint64_t FaultsTotal(const v1::ErrorDetail& detail);

// "INVALID_ARGUMENT" for a code and back; unknown names give UNKNOWN.
std::string CodeName(absl::StatusCode code);
absl::StatusCode CodeFromName(const std::string& name);

// How long the server asked to wait before a retry; 0 = it did not say.
uint32_t RetryAfterSeconds(const absl::Status& status);

}  // namespace sm89::client
