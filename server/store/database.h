// SQLite behind a narrow door: durable transactions, one writer at a time, readers that do not wait for it.
//
//   RETURN_IF_ERROR(db.Write([&](Transaction& tx) {
//     return tx.Run("UPDATE jobs SET state = ? WHERE id = ?", {state, id});
//   }));
//
// WAL, synchronous=FULL: when Write returned OK the change survives kill -9 and power loss. SQL texts are
// constants of ours; values are always bound.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/os/clock.h"

namespace sm89 {

// A value to bind: a view, alive for the call only. Unsigned values keep their 64 bits (stored as the signed
// number with the same bits): those past 2^63 do not compare in SQL as they should.
class SqlValue {
 public:
  struct Blob {
    std::string_view bytes;
  };
  SqlValue(std::nullptr_t) : value_(nullptr) {}
  template <std::integral T>
  SqlValue(T value) : value_(static_cast<int64_t>(value)) {}
  SqlValue(double value) : value_(value) {}
  SqlValue(std::string_view text) : value_(text) {}
  SqlValue(const std::string& text) : value_(std::string_view(text)) {}
  SqlValue(const char* text) : value_(std::string_view(text)) {}
  SqlValue(Blob blob) : value_(blob) {}

  using Variant = std::variant<std::nullptr_t, int64_t, double, std::string_view, Blob>;
  const Variant& get() const { return value_; }

 private:
  Variant value_;
};

// The present row of a query; columns count from 0. Valid inside the row callback only.
class Row {
 public:
  explicit Row(void* statement) : statement_(statement) {}
  int64_t Int(int column) const;
  uint64_t Uint(int column) const { return static_cast<uint64_t>(Int(column)); }
  bool Bool(int column) const { return Int(column) != 0; }
  double Double(int column) const;
  std::string Text(int column) const;  // text or blob; "" for NULL
  bool IsNull(int column) const;

 private:
  void* statement_;
};
using RowCallback = std::function<absl::Status(const Row&)>;

// Inside Database::Write or ::Read only. Statements stay prepared by their text.
class Transaction {
 public:
  virtual ~Transaction() = default;

  absl::Status Run(const char* sql, std::initializer_list<SqlValue> values = {}) {
    return Query(sql, std::span<const SqlValue>(values.begin(), values.size()), nullptr);
  }
  absl::Status Query(const char* sql, std::initializer_list<SqlValue> values, const RowCallback& on_row) {
    return Query(sql, std::span<const SqlValue>(values.begin(), values.size()), on_row);
  }
  // Stops with the callback's error, if any.
  virtual absl::Status Query(const char* sql, std::span<const SqlValue> values,
                             const RowCallback& on_row) = 0;
  // Rows that the last INSERT, UPDATE or DELETE touched.
  virtual int64_t RowsChanged() const = 0;
};

// Steps of one component's tables, versions 1, 2, 3, ...; a step that was released is never edited.
struct Migration {
  int version;
  const char* sql;  // may hold several statements
};

struct DatabaseOptions {
  std::string path;
  int busy_timeout_ms = 5000;    // for other processes that lock the file (backup, a shell)
  const Clock* clock = nullptr;  // for `on_write` only
  // After each Write: how long it took once its turn had come (body and commit), and how it ended. A body
  // that refuses (ALREADY_EXISTS and the like) is no failure of the store.
  std::function<void(double seconds, const absl::Status& status)> on_write;
};

// Errors: RESOURCE_EXHAUSTED disk full; UNAVAILABLE locked by another process past the timeout;
// ALREADY_EXISTS a UNIQUE or PRIMARY KEY clash; FAILED_PRECONDITION other constraints; DATA_LOSS damaged
// file; else INTERNAL. Thread-safe. A Write body must not call Write, nor a Read body Read (they would wait
// for themselves).
class Database {
 public:
  // Makes or opens the file and checks its integrity. FAILED_PRECONDITION for a file written by a newer
  // layout.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const DatabaseOptions& options);
  virtual ~Database() = default;

  // Brings `component`'s tables to the last version, each step in a transaction. FAILED_PRECONDITION when the
  // file has a newer version than the code (an older daemon on newer data). Call once at start.
  virtual absl::Status Migrate(std::string_view component, std::span<const Migration> migrations) = 0;

  using Body = std::function<absl::Status(Transaction&)>;
  // Commits when `body` gives OK, rolls back otherwise. An error of the commit itself is returned, and
  // nothing of the body is stored then.
  virtual absl::Status Write(const Body& body) = 0;
  // One consistent snapshot, which holds every Write that returned before the call. Writing fails.
  virtual absl::Status Read(const Body& body) = 0;
  // A consistent copy to a new file, while in use.
  virtual absl::Status BackUp(const std::string& path) = 0;
};

}  // namespace sm89
