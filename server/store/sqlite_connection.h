// One SQLite connection with its prepared statements. Not thread-safe: Database puts a mutex around it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/store/database.h"

struct sqlite3;
struct sqlite3_stmt;

namespace sm89 {

class SqliteConnection final : public Transaction {
 public:
  static absl::StatusOr<std::unique_ptr<SqliteConnection>> Open(const DatabaseOptions& options);
  ~SqliteConnection() override;
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;

  using Transaction::Query;
  absl::Status Query(const char* sql, std::span<const SqlValue> values, const RowCallback& on_row) override;
  int64_t RowsChanged() const override;

  // Several statements without values, not kept prepared: DDL and pragmas.
  absl::Status Execute(const std::string& sql);
  // `begin`, then `body`, then COMMIT or ROLLBACK.
  absl::Status RunTransaction(const char* begin, const Database::Body& body);

 private:
  explicit SqliteConnection(sqlite3* db) : db_(db) {}
  absl::StatusOr<sqlite3_stmt*> Prepared(const char* sql);
  absl::Status Error(const char* what) const;
  void DropIdleStatements();
  void RollBack();

  sqlite3* db_;
  std::unordered_map<std::string, sqlite3_stmt*> prepared_;  // by SQL text; at most kPreparedMax
};

}  // namespace sm89
