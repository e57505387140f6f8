// Traces between domain and protocol. Private to server/service.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/traces/trace_manager.h"
#include "sm89/v1/trace.pb.h"

namespace sm89 {

inline constexpr char kTraceSubject[] = "TRACE";

void ToMessage(const TraceRecord& record, v1::Trace* message);
absl::StatusOr<BeginUpload> FromMessage(const v1::BeginUploadRequest& request);
// "state=READY AND display_name:bfs"; empty = all.
absl::StatusOr<TraceFilter> ParseTraceFilter(const std::string& text);

}  // namespace sm89
