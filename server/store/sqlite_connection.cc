#include "server/store/sqlite_connection.h"

#include <sqlite3.h>

#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

// More than the program has texts; reached only by texts built from filters.
constexpr size_t kPreparedMax = 256;

sqlite3_stmt* Stmt(void* statement) { return static_cast<sqlite3_stmt*>(statement); }

absl::StatusCode CodeOf(int extended) {
  if (extended == SQLITE_CONSTRAINT_UNIQUE || extended == SQLITE_CONSTRAINT_PRIMARYKEY) {
    return absl::StatusCode::kAlreadyExists;
  }
  switch (extended & 0xFF) {  // the primary code is the low byte
    case SQLITE_FULL:
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
      return absl::StatusCode::kResourceExhausted;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::StatusCode::kUnavailable;
    case SQLITE_CONSTRAINT:
      return absl::StatusCode::kFailedPrecondition;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::StatusCode::kDataLoss;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      return absl::StatusCode::kPermissionDenied;
    default:
      return absl::StatusCode::kInternal;
  }
}

int BindOne(sqlite3_stmt* stmt, int index, const SqlValue& value) {
  return std::visit(
      [&](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::nullptr_t>) {
          return sqlite3_bind_null(stmt, index);
        } else if constexpr (std::is_same_v<T, int64_t>) {
          return sqlite3_bind_int64(stmt, index, v);
        } else if constexpr (std::is_same_v<T, double>) {
          return sqlite3_bind_double(stmt, index, v);
        } else if constexpr (std::is_same_v<T, std::string_view>) {
          // A null pointer would bind NULL; the empty text is a text.
          return sqlite3_bind_text64(stmt, index, v.empty() ? "" : v.data(), v.size(), SQLITE_STATIC,
                                     SQLITE_UTF8);
        } else {
          return v.bytes.empty()
                     ? sqlite3_bind_zeroblob(stmt, index, 0)
                     : sqlite3_bind_blob64(stmt, index, v.bytes.data(), v.bytes.size(), SQLITE_STATIC);
        }
      },
      value.get());
}

}  // namespace

int64_t Row::Int(int column) const { return sqlite3_column_int64(Stmt(statement_), column); }
double Row::Double(int column) const { return sqlite3_column_double(Stmt(statement_), column); }
bool Row::IsNull(int column) const { return sqlite3_column_type(Stmt(statement_), column) == SQLITE_NULL; }
std::string Row::Text(int column) const {
  const void* bytes = sqlite3_column_blob(Stmt(statement_), column);
  const int size = sqlite3_column_bytes(Stmt(statement_), column);
  return bytes == nullptr ? std::string()
                          : std::string(static_cast<const char*>(bytes), static_cast<size_t>(size));
}

absl::StatusOr<std::unique_ptr<SqliteConnection>> SqliteConnection::Open(const DatabaseOptions& options) {
  sqlite3* db = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
  const int code = sqlite3_open_v2(options.path.c_str(), &db, flags, nullptr);
  if (db == nullptr) return absl::ResourceExhaustedError("no memory for a database connection");
  std::unique_ptr<SqliteConnection> connection(new SqliteConnection(db));
  sqlite3_extended_result_codes(db, 1);
  if (code != SQLITE_OK) return connection->Error(absl::StrCat("cannot open ", options.path).c_str());
  sqlite3_busy_timeout(db, options.busy_timeout_ms);
  RETURN_IF_ERROR(connection->Execute(
      "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF;"
      "PRAGMA cell_size_check=ON; PRAGMA journal_size_limit=67108864;"));
  std::string mode;
  RETURN_IF_ERROR(connection->Query("PRAGMA journal_mode", {}, [&](const Row& row) {
    mode = row.Text(0);
    return absl::OkStatus();
  }));
  if (mode != "wal") {
    return absl::FailedPreconditionError(
        absl::StrCat(options.path, ": the file system does not support write-ahead logging (mode is ", mode,
                     "); use a local disk"));
  }
  return connection;
}

SqliteConnection::~SqliteConnection() {
  for (const auto& [sql, stmt] : prepared_) sqlite3_finalize(stmt);
  sqlite3_close(db_);
}

absl::Status SqliteConnection::Error(const char* what) const {
  return absl::Status(CodeOf(sqlite3_extended_errcode(db_)),
                      absl::StrCat("database: ", what, ": ", sqlite3_errmsg(db_)));
}

absl::StatusOr<sqlite3_stmt*> SqliteConnection::Prepared(const char* sql) {
  if (const auto it = prepared_.find(sql); it != prepared_.end()) return it->second;
  sqlite3_stmt* stmt = nullptr;
  if (sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, nullptr) != SQLITE_OK) {
    return Error(sql);
  }
  SM89_ASSERT(stmt != nullptr, "an SQL text holds a statement");
  if (prepared_.size() >= kPreparedMax) DropIdleStatements();
  prepared_.emplace(sql, stmt);
  return stmt;
}

void SqliteConnection::DropIdleStatements() {
  for (auto it = prepared_.begin(); it != prepared_.end();) {
    if (sqlite3_stmt_busy(it->second) != 0) {
      ++it;
    } else {
      sqlite3_finalize(it->second);
      it = prepared_.erase(it);
    }
  }
}

absl::Status SqliteConnection::Query(const char* sql, std::span<const SqlValue> values,
                                     const RowCallback& on_row) {
  ASSIGN_OR_RETURN(sqlite3_stmt* const stmt, Prepared(sql));
  SM89_ASSERT(sqlite3_bind_parameter_count(stmt) == static_cast<int>(values.size()), "one value a parameter");
  SM89_ASSERT(sqlite3_stmt_busy(stmt) == 0, "a row callback does not run its own query again");
  absl::Status result;
  for (size_t i = 0; i < values.size() && result.ok(); ++i) {
    if (BindOne(stmt, static_cast<int>(i) + 1, values[i]) != SQLITE_OK) result = Error("cannot bind a value");
  }
  while (result.ok()) {
    const int code = sqlite3_step(stmt);
    if (code == SQLITE_DONE) break;
    if (code != SQLITE_ROW) {
      result = Error("statement failed");
    } else if (on_row) {
      result = on_row(Row(stmt));
    }
  }
  sqlite3_reset(stmt);
  sqlite3_clear_bindings(stmt);  // drops the views
  return result;
}

int64_t SqliteConnection::RowsChanged() const { return sqlite3_changes64(db_); }

absl::Status SqliteConnection::Execute(const std::string& sql) {
  if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return Error("statement failed");
  }
  return absl::OkStatus();
}

absl::Status SqliteConnection::RunTransaction(const char* begin, const Database::Body& body) {
  RETURN_IF_ERROR(Query(begin, {}, nullptr));
  absl::Status status = body(*this);
  // An error such as a full disk may have rolled back already; then there is nothing to commit.
  const bool open = sqlite3_get_autocommit(db_) == 0;
  if (status.ok() && !open) status = absl::InternalError("database: the transaction ended early");
  if (status.ok()) status = Query("COMMIT", {}, nullptr);
  if (!status.ok()) RollBack();
  return status;
}

void SqliteConnection::RollBack() {
  // Fails only when there is no transaction any more, which is what is wanted.
  if (sqlite3_get_autocommit(db_) == 0) Query("ROLLBACK", {}, nullptr).IgnoreError();
}

}  // namespace sm89
