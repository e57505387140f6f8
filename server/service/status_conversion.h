// absl::Status <-> grpc::Status. Every error carries "grpc-status-details-bin": an RpcStatus (the wire shape
// of google.rpc.Status) with one ErrorDetail packed as "type.googleapis.com/sm89.v1.ErrorDetail".
//
// A peer accepts about 8 KiB of trailing metadata in all, so an RPC's error is cut to fit: long texts end in
// "...", and metadata["faults_total"] says how many faults there are when not all are there. Error details
// that are part of a message (Trace.error, Job.error) are not cut that short.
#pragma once

#include <grpcpp/support/status.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "sm89/v1/common.pb.h"

namespace sm89 {

// An error about something that a call names beside its own subject, as a job names its trace: the reason
// begins with this one. An OK status stays as it is.
absl::Status WithSubject(absl::Status status, std::string_view subject);

// `subject` begins the reason unless the status has one: "TRACE" and NOT_FOUND give "TRACE_NOT_FOUND".
grpc::Status ToGrpc(const absl::Status& status, std::string_view subject);
// The faults come back; reason, metadata and retry time are only for clients.
absl::Status FromGrpc(const grpc::Status& status);

// The detail to put into a message.
v1::ErrorDetail ToErrorDetail(const absl::Status& status, std::string_view subject);

// "NOT_FOUND".
std::string_view CodeName(absl::StatusCode code);

// Protobuf strings must be UTF-8 or the receiver drops the whole message: other bytes become '?'. Longer text
// is cut to `max_bytes` and ends in "...".
std::string CleanText(std::string_view text, size_t max_bytes);

}  // namespace sm89
