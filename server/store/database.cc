#include "server/store/database.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/os/mutex.h"
#include "server/store/sqlite_connection.h"
#include "sim/base/assert.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"

namespace sm89 {
namespace {

// Of the file as a whole (user_version); components have their own versions on top.
constexpr int kLayoutVersion = 1;

class SqliteDatabase final : public Database {
 public:
  SqliteDatabase(DatabaseOptions options, std::unique_ptr<SqliteConnection> writer,
                 std::unique_ptr<SqliteConnection> reader)
      : options_(std::move(options)), writer_(std::move(writer)), reader_(std::move(reader)) {}

  absl::Status Migrate(std::string_view component, std::span<const Migration> migrations) override {
    MutexLock lock(write_mutex_);
    int64_t present = 0;
    RETURN_IF_ERROR(writer_->Query("SELECT version FROM schema_version WHERE component = ?", {component},
                                   [&](const Row& row) {
                                     present = row.Int(0);
                                     return absl::OkStatus();
                                   }));
    const int64_t newest = migrations.empty() ? 0 : migrations.back().version;
    if (present > newest) {
      return absl::FailedPreconditionError(
          absl::StrCat("the data folder was written by a newer version (", Av(component), " tables are at ",
                       present, ", this program knows ", newest, "): update the program"));
    }
    int64_t last = 0;
    for (const Migration& step : migrations) {
      SM89_ASSERT(step.version == last + 1, "migrations are numbered 1, 2, 3, ...");
      last = step.version;
      if (step.version <= present) continue;
      const absl::Status done = Apply(component, step);
      if (!done.ok()) return done;
    }
    return absl::OkStatus();
  }

  absl::Status Write(const Body& body) override {
    MutexLock lock(write_mutex_);
    if (!options_.on_write || options_.clock == nullptr)
      return writer_->RunTransaction("BEGIN IMMEDIATE", body);
    const SteadyTime start = options_.clock->SteadyNow();
    const absl::Status status = writer_->RunTransaction("BEGIN IMMEDIATE", body);
    const std::chrono::duration<double> took = options_.clock->SteadyNow() - start;
    options_.on_write(took.count(), status);
    return status;
  }

  absl::Status Read(const Body& body) override {
    MutexLock lock(read_mutex_);
    return reader_->RunTransaction("BEGIN", body);
  }

  absl::Status BackUp(const std::string& path) override {
    MutexLock lock(write_mutex_);
    return writer_->Query("VACUUM INTO ?", {path}, nullptr);
  }

 private:
  absl::Status Apply(std::string_view component, const Migration& step) SM89_REQUIRES(write_mutex_) {
    return writer_->RunTransaction("BEGIN IMMEDIATE", [&](Transaction& tx) -> absl::Status {
      RETURN_IF_ERROR(writer_->Execute(step.sql));
      return tx.Run("INSERT OR REPLACE INTO schema_version(component, version) VALUES(?, ?)",
                    {component, step.version});
    });
  }

  const DatabaseOptions options_;
  Mutex write_mutex_;
  Mutex read_mutex_;
  std::unique_ptr<SqliteConnection> writer_ SM89_GUARDED_BY(write_mutex_);
  std::unique_ptr<SqliteConnection> reader_ SM89_GUARDED_BY(read_mutex_);
};

absl::Status CheckIntegrity(SqliteConnection& connection, const std::string& path) {
  std::string verdict;
  RETURN_IF_ERROR(connection.Query("PRAGMA integrity_check(1)", {}, [&](const Row& row) {
    verdict = row.Text(0);
    return absl::OkStatus();
  }));
  if (verdict == "ok") return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(path, " is damaged (", verdict,
                                          "): restore a backup, or move the file away to start empty"));
}

absl::Status PrepareLayout(SqliteConnection& connection, const std::string& path) {
  int64_t version = 0;
  RETURN_IF_ERROR(connection.Query("PRAGMA user_version", {}, [&](const Row& row) {
    version = row.Int(0);
    return absl::OkStatus();
  }));
  if (version > kLayoutVersion) {
    return absl::FailedPreconditionError(absl::StrCat(path, " was written by a newer version (layout ",
                                                      version, ", this program knows ", kLayoutVersion,
                                                      "): update the program"));
  }
  if (version == kLayoutVersion) return absl::OkStatus();
  return connection.RunTransaction("BEGIN IMMEDIATE", [&](Transaction&) {
    return connection.Execute(absl::StrCat(
        "CREATE TABLE schema_version(component TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID;"
        "PRAGMA user_version=",
        kLayoutVersion));
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const DatabaseOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> writer, SqliteConnection::Open(options));
  RETURN_IF_ERROR(CheckIntegrity(*writer, options.path));
  RETURN_IF_ERROR(PrepareLayout(*writer, options.path));
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> reader, SqliteConnection::Open(options));
  RETURN_IF_ERROR(reader->Execute("PRAGMA query_only=ON"));
  return std::make_unique<SqliteDatabase>(options, std::move(writer), std::move(reader));
}

}  // namespace sm89
