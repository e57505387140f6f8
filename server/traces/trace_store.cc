#include "server/traces/trace_store.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"

namespace sm89 {

std::string_view Name(TraceState state) {
  switch (state) {
    case TraceState::kUploading:
      return "UPLOADING";
    case TraceState::kValidating:
      return "VALIDATING";
    case TraceState::kReady:
      return "READY";
    case TraceState::kInvalid:
      return "INVALID";
  }
  SM89_ASSERT(false, "every state has a name");
}

bool IsProgram(const TraceContent& content) {
  return std::any_of(content.marks.begin(), content.marks.end(),
                     [](const std::string& mark) { return mark.starts_with("emulated:"); });
}

std::string TraceRecord::etag() const { return absl::StrCat("v", version); }

namespace trace_store {
namespace {

using Json = nlohmann::json;

constexpr Migration kMigrations[] = {
    {1,
     "CREATE TABLE traces("
     "  sequence INTEGER PRIMARY KEY AUTOINCREMENT,"
     "  id TEXT NOT NULL UNIQUE,"
     "  display_name TEXT NOT NULL,"
     "  state INTEGER NOT NULL,"
     "  upload_sha256 TEXT NOT NULL, upload_bytes INTEGER NOT NULL, committed_bytes INTEGER NOT NULL,"
     "  foreign_arch INTEGER NOT NULL, allow_partial INTEGER NOT NULL, unknown_as_nop INTEGER NOT NULL,"
     "  digest TEXT NOT NULL, blob TEXT NOT NULL, stored_bytes INTEGER NOT NULL,"
     "  kernels INTEGER NOT NULL, warp_instructions INTEGER NOT NULL, thread_instructions INTEGER NOT NULL,"
     "  memcpy_h2d_bytes INTEGER NOT NULL,"
     "  marks TEXT NOT NULL, warnings TEXT NOT NULL,"  // JSON arrays of strings
     "  error TEXT NOT NULL,"                          // JSON of a status, '' = none
     "  create_unix_nanos INTEGER NOT NULL,"
     "  version INTEGER NOT NULL);"
     "CREATE INDEX traces_by_upload ON traces(upload_sha256);"
     "CREATE TABLE upload_requests("
     "  request_id TEXT PRIMARY KEY, body_hash TEXT NOT NULL, trace_id TEXT NOT NULL,"
     "  create_unix_nanos INTEGER NOT NULL) WITHOUT ROWID;"},
    {2, "ALTER TABLE traces ADD COLUMN machine_code INTEGER NOT NULL DEFAULT 0;"},
};

#define SM89_TRACE_COLUMNS                                                                               \
  "id, display_name, state, upload_sha256, upload_bytes, committed_bytes, foreign_arch, allow_partial, " \
  "unknown_as_nop, machine_code, digest, blob, stored_bytes, kernels, warp_instructions, "               \
  "thread_instructions, "                                                                                \
  "memcpy_h2d_bytes, marks, warnings, error, create_unix_nanos, version, sequence"

std::string ListToJson(const std::vector<std::string>& list) {
  return Json(list).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::string> ListFromJson(const std::string& text) {
  std::vector<std::string> list;
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_array()) return list;
  for (const Json& item : json) {
    if (item.is_string()) list.push_back(item.get<std::string>());
  }
  return list;
}

TraceRecord FromRow(const Row& row) {
  int column = 0;
  TraceRecord r;
  r.id = row.Text(column++);
  r.display_name = row.Text(column++);
  r.state = static_cast<TraceState>(row.Int(column++));
  r.upload_sha256 = row.Text(column++);
  r.upload_bytes = row.Uint(column++);
  r.committed_bytes = row.Uint(column++);
  r.options.foreign_arch = row.Bool(column++);
  r.options.allow_partial = row.Bool(column++);
  r.options.unknown_as_nop = row.Bool(column++);
  r.options.machine_code = row.Bool(column++);
  r.content.digest = row.Text(column++);
  r.content.blob = row.Text(column++);
  r.content.stored_bytes = row.Uint(column++);
  r.content.kernels = row.Uint(column++);
  r.content.warp_instructions = row.Uint(column++);
  r.content.thread_instructions = row.Uint(column++);
  r.content.memcpy_h2d_bytes = row.Uint(column++);
  r.content.marks = ListFromJson(row.Text(column++));
  r.content.warnings = ListFromJson(row.Text(column++));
  if (const std::string error = row.Text(column++); !error.empty()) r.error = StatusFromJson(error);
  r.create_unix_nanos = row.Int(column++);
  r.version = row.Int(column++);
  r.sequence = row.Int(column++);
  return r;
}

std::string ErrorText(const absl::Status& error) { return error.ok() ? std::string() : StatusToJson(error); }

RowCallback AppendTo(std::vector<TraceRecord>* list) {
  return [list](const Row& row) {
    list->push_back(FromRow(row));
    return absl::OkStatus();
  };
}

}  // namespace

absl::Status Migrate(Database& db) { return db.Migrate("traces", kMigrations); }

absl::Status Insert(Transaction& tx, TraceRecord* record) {
  const TraceRecord& r = *record;
  RETURN_IF_ERROR(tx.Run(
      "INSERT INTO traces(id, display_name, state, upload_sha256, upload_bytes, committed_bytes, "
      "foreign_arch,"
      " allow_partial, unknown_as_nop, machine_code, digest, blob, stored_bytes, kernels, warp_instructions,"
      " thread_instructions, memcpy_h2d_bytes, marks, warnings, error, create_unix_nanos, version)"
      " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', '', 0, 0, 0, 0, 0, '[]', '[]', '', ?, ?)",
      {r.id, r.display_name, static_cast<int>(r.state), r.upload_sha256, r.upload_bytes, r.committed_bytes,
       r.options.foreign_arch, r.options.allow_partial, r.options.unknown_as_nop, r.options.machine_code,
       r.create_unix_nanos, r.version}));
  return tx.Query("SELECT sequence FROM traces WHERE id = ?", {r.id}, [&](const Row& row) {
    record->sequence = row.Int(0);
    return absl::OkStatus();
  });
}

absl::StatusOr<TraceRecord> Get(Transaction& tx, const std::string& id) {
  std::vector<TraceRecord> found;
  RETURN_IF_ERROR(tx.Query("SELECT " SM89_TRACE_COLUMNS " FROM traces WHERE id = ?", {id}, AppendTo(&found)));
  if (found.empty()) return absl::NotFoundError(absl::StrCat("there is no trace \"traces/", id, "\""));
  return std::move(found.front());
}

absl::Status Update(Transaction& tx, TraceRecord* record) {
  ++record->version;
  const TraceRecord& r = *record;
  return tx.Run(
      "UPDATE traces SET state = ?, committed_bytes = ?, digest = ?, blob = ?, stored_bytes = ?, kernels = ?,"
      " warp_instructions = ?, thread_instructions = ?, memcpy_h2d_bytes = ?, marks = ?, warnings = ?,"
      " error = ?, version = ? WHERE id = ?",
      {static_cast<int>(r.state), r.committed_bytes, r.content.digest, r.content.blob, r.content.stored_bytes,
       r.content.kernels, r.content.warp_instructions, r.content.thread_instructions,
       r.content.memcpy_h2d_bytes, ListToJson(r.content.marks), ListToJson(r.content.warnings),
       ErrorText(r.error), r.version, r.id});
}

absl::Status Delete(Transaction& tx, const std::string& id) {
  return tx.Run("DELETE FROM traces WHERE id = ?", {id});
}

absl::StatusOr<std::optional<TraceRecord>> FindSame(Transaction& tx, const BeginUpload& request) {
  std::vector<TraceRecord> found;
  RETURN_IF_ERROR(tx.Query(
      "SELECT " SM89_TRACE_COLUMNS
      " FROM traces WHERE upload_sha256 = ? AND upload_bytes = ? AND state = ?"
      " AND foreign_arch = ? AND allow_partial = ? AND unknown_as_nop = ? AND machine_code = ?"
      " ORDER BY sequence LIMIT 1",
      {request.sha256, request.size_bytes, static_cast<int>(TraceState::kReady), request.options.foreign_arch,
       request.options.allow_partial, request.options.unknown_as_nop, request.options.machine_code},
      AppendTo(&found)));
  if (found.empty()) return std::optional<TraceRecord>();
  return std::optional<TraceRecord>(std::move(found.front()));
}

absl::StatusOr<std::vector<TraceRecord>> All(Transaction& tx, std::optional<TraceState> state) {
  std::vector<TraceRecord> found;
  const int wanted = state ? static_cast<int>(*state) : 0;
  RETURN_IF_ERROR(tx.Query("SELECT " SM89_TRACE_COLUMNS
                           " FROM traces WHERE ?1 = 0 OR state = ?1 ORDER BY sequence",
                           {wanted}, AppendTo(&found)));
  return found;
}

absl::StatusOr<TracePage> List(Transaction& tx, const TraceFilter& filter, int64_t before,
                               uint32_t page_size) {
  TracePage page;
  const int64_t bound = before > 0 ? before : INT64_MAX;
  const int state = filter.state ? static_cast<int>(*filter.state) : 0;
  // One more than asked for: whether there is another page.
  RETURN_IF_ERROR(
      tx.Query("SELECT " SM89_TRACE_COLUMNS " FROM traces WHERE sequence < ?1 AND (?2 = 0 OR state = ?2)"
               " AND (?3 = '' OR instr(display_name, ?3) > 0) ORDER BY sequence DESC LIMIT ?4",
               {bound, state, filter.display_name_part, uint64_t{page_size} + 1}, AppendTo(&page.traces)));
  if (page.traces.size() > page_size) {
    page.traces.pop_back();
    page.next_before = page.traces.back().sequence;
  }
  return page;
}

absl::StatusOr<TraceManager::Counts> Count(Transaction& tx) {
  TraceManager::Counts counts;
  RETURN_IF_ERROR(tx.Query("SELECT count(*), count(*) FILTER (WHERE state IN (1, 2)) FROM traces", {},
                           [&](const Row& row) {
                             counts.traces = row.Uint(0);
                             counts.uploads_open = row.Uint(1);
                             return absl::OkStatus();
                           }));
  return counts;
}

absl::StatusOr<std::optional<Request>> FindRequest(Transaction& tx, const std::string& request_id) {
  std::optional<Request> found;
  RETURN_IF_ERROR(tx.Query("SELECT body_hash, trace_id FROM upload_requests WHERE request_id = ?",
                           {request_id}, [&](const Row& row) {
                             found = Request{row.Text(0), row.Text(1)};
                             return absl::OkStatus();
                           }));
  return found;
}

absl::Status PutRequest(Transaction& tx, const std::string& request_id, const Request& request,
                        int64_t now_unix_nanos) {
  return tx.Run(
      "INSERT OR REPLACE INTO upload_requests(request_id, body_hash, trace_id, create_unix_nanos)"
      " VALUES(?, ?, ?, ?)",
      {request_id, request.body_hash, request.trace_id, now_unix_nanos});
}

absl::Status DropRequestsBefore(Transaction& tx, int64_t unix_nanos) {
  return tx.Run("DELETE FROM upload_requests WHERE create_unix_nanos < ?", {unix_nanos});
}

#undef SM89_TRACE_COLUMNS

}  // namespace trace_store
}  // namespace sm89
