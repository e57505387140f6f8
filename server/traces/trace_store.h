// Rows of traces and of the request ids that began them. Every function runs inside a caller's transaction.
// Private to server/traces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/store/database.h"
#include "server/traces/trace_manager.h"
#include "server/traces/trace_types.h"

namespace sm89::trace_store {

absl::Status Migrate(Database& db);

// Sets `record->sequence`.
absl::Status Insert(Transaction& tx, TraceRecord* record);
// NOT_FOUND names "traces/{id}".
absl::StatusOr<TraceRecord> Get(Transaction& tx, const std::string& id);
// State, committed bytes, content and error; raises the version.
absl::Status Update(Transaction& tx, TraceRecord* record);
absl::Status Delete(Transaction& tx, const std::string& id);

// A READY trace made from the same bytes with the same options.
absl::StatusOr<std::optional<TraceRecord>> FindSame(Transaction& tx, const BeginUpload& request);
absl::StatusOr<std::vector<TraceRecord>> All(Transaction& tx, std::optional<TraceState> state);
absl::StatusOr<TracePage> List(Transaction& tx, const TraceFilter& filter, int64_t before,
                               uint32_t page_size);
absl::StatusOr<TraceManager::Counts> Count(Transaction& tx);

// What an earlier BeginUpload with this request id was and gave.
struct Request {
  std::string body_hash;
  std::string trace_id;
};
absl::StatusOr<std::optional<Request>> FindRequest(Transaction& tx, const std::string& request_id);
// Replaces what is there.
absl::Status PutRequest(Transaction& tx, const std::string& request_id, const Request& request,
                        int64_t now_unix_nanos);
absl::Status DropRequestsBefore(Transaction& tx, int64_t unix_nanos);

}  // namespace sm89::trace_store
