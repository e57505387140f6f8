#include "server/store/database.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/os/file_store.h"
#include "tests/support/temp_dir.h"

namespace sm89 {
namespace {

using testing::TempDir;

constexpr std::array<Migration, 2> kTables = {
    Migration{1, "CREATE TABLE t(id TEXT PRIMARY KEY, n INTEGER); CREATE INDEX t_n ON t(n);"},
    Migration{2, "ALTER TABLE t ADD COLUMN note TEXT NOT NULL DEFAULT 'none'"}};

class DatabaseTest : public ::testing::Test {
 protected:
  std::unique_ptr<Database> Open(int busy_timeout_ms = 5000) {
    auto db = Database::Open({dir_.File("db"), busy_timeout_ms});
    EXPECT_TRUE(db.ok()) << db.status();
    return db.ok() ? *std::move(db) : nullptr;
  }
  int64_t Count(Database& db) {
    int64_t n = -1;
    EXPECT_TRUE(db.Read([&](Transaction& tx) {
                    return tx.Query("SELECT count(*) FROM t", {}, [&](const Row& row) {
                      n = row.Int(0);
                      return absl::OkStatus();
                    });
                  }).ok());
    return n;
  }
  absl::Status Insert(Database& db, std::string_view id, int64_t n) {
    return db.Write([&](Transaction& tx) { return tx.Run("INSERT INTO t(id, n) VALUES(?, ?)", {id, n}); });
  }
  TempDir dir_;
};

TEST_F(DatabaseTest, KeepsWhatWasWrittenAndValuesExactly) {
  const uint64_t big = ~uint64_t{0} - 5;
  const std::string bytes("a\0b\xFF", 4);
  {
    auto db = Open();
    ASSERT_TRUE(db->Migrate("t", kTables).ok());
    ASSERT_TRUE(db->Write([&](Transaction& tx) {
                    return tx.Run("INSERT INTO t VALUES(?, ?, ?)", {bytes, big, ""});
                  }).ok());
  }
  auto db = Open();
  ASSERT_TRUE(db->Migrate("t", kTables).ok());
  int rows = 0;
  ASSERT_TRUE(db->Read([&](Transaction& tx) {
                  return tx.Query("SELECT id, n, note, NULL FROM t", {}, [&](const Row& row) {
                    ++rows;
                    EXPECT_EQ(row.Text(0), bytes);
                    EXPECT_EQ(row.Uint(1), big);
                    EXPECT_EQ(row.Text(2), "");
                    EXPECT_FALSE(row.IsNull(2));
                    EXPECT_TRUE(row.IsNull(3));
                    return absl::OkStatus();
                  });
                }).ok());
  EXPECT_EQ(rows, 1);
}

TEST_F(DatabaseTest, AFailedBodyLeavesNothing) {
  auto db = Open();
  ASSERT_TRUE(db->Migrate("t", kTables).ok());
  const absl::Status status = db->Write([&](Transaction& tx) -> absl::Status {
    EXPECT_TRUE(tx.Run("INSERT INTO t(id, n) VALUES('x', 1)").ok());
    return absl::AbortedError("no");
  });
  EXPECT_EQ(status, absl::AbortedError("no"));
  EXPECT_EQ(Count(*db), 0);
}

TEST_F(DatabaseTest, ClashesHaveTheirOwnCode) {
  auto db = Open();
  ASSERT_TRUE(db->Migrate("t", kTables).ok());
  ASSERT_TRUE(Insert(*db, "x", 1).ok());
  EXPECT_EQ(Insert(*db, "x", 2).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(Count(*db), 1);
}

TEST_F(DatabaseTest, ReadsCannotWrite) {
  auto db = Open();
  ASSERT_TRUE(db->Migrate("t", kTables).ok());
  EXPECT_FALSE(db->Read([](Transaction& tx) { return tx.Run("DELETE FROM t"); }).ok());
  EXPECT_TRUE(Insert(*db, "x", 1).ok());
}

TEST_F(DatabaseTest, ReadersSeeTheLastCommitWhileAWriteIsOpen) {
  auto db = Open();
  ASSERT_TRUE(db->Migrate("t", kTables).ok());
  ASSERT_TRUE(db->Write([&](Transaction& tx) -> absl::Status {
                  EXPECT_TRUE(tx.Run("INSERT INTO t(id, n) VALUES('x', 1)").ok());
                  EXPECT_EQ(Count(*db), 0);
                  return absl::OkStatus();
                }).ok());
  EXPECT_EQ(Count(*db), 1);
}

TEST_F(DatabaseTest, RefusesANewerSchema) {
  {
    auto db = Open();
    ASSERT_TRUE(db->Migrate("t", kTables).ok());
    const std::array<Migration, 1> old = {kTables[0]};
    EXPECT_EQ(db->Migrate("t", old).code(), absl::StatusCode::kFailedPrecondition);
    ASSERT_TRUE(db->Migrate("t", kTables).ok());
  }
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(dir_.File("db").c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(raw, "PRAGMA user_version=99", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(raw);
  EXPECT_EQ(Database::Open({dir_.File("db")}).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(DatabaseTest, AFailedMigrationStepChangesNothing) {
  auto db = Open();
  const std::array<Migration, 1> broken = {Migration{1, "CREATE TABLE u(x); CREATE TABLE u(x);"}};
  EXPECT_FALSE(db->Migrate("u", broken).ok());
  const std::array<Migration, 1> good = {Migration{1, "CREATE TABLE u(x)"}};
  EXPECT_TRUE(db->Migrate("u", good).ok());
}

TEST_F(DatabaseTest, RefusesADamagedFile) {
  { ASSERT_TRUE(Open()->Migrate("t", kTables).ok()); }
  auto text = ReadWholeFile(PosixFileStore(), dir_.File("db"), 1 << 20);
  ASSERT_TRUE(text.ok());
  ASSERT_GT(text->size(), 8192u);
  for (size_t i = 4096; i < 8192; ++i) (*text)[i] = 'x';
  ASSERT_TRUE(AtomicWriteFile(PosixFileStore(), dir_.File("db"), *text).ok());
  EXPECT_EQ(Database::Open({dir_.File("db")}).status().code(), absl::StatusCode::kDataLoss);
  ASSERT_TRUE(AtomicWriteFile(PosixFileStore(), dir_.File("db2"), std::string(8192, 'z')).ok());
  EXPECT_EQ(Database::Open({dir_.File("db2")}).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(DatabaseTest, ALockHeldByAnotherProcessIsUnavailableAndPasses) {
  auto db = Open(/*busy_timeout_ms=*/1);
  ASSERT_TRUE(db->Migrate("t", kTables).ok());
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(dir_.File("db").c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_EQ(Insert(*db, "x", 1).code(), absl::StatusCode::kUnavailable);
  ASSERT_EQ(sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(other);
  EXPECT_TRUE(Insert(*db, "x", 1).ok());
}

TEST_F(DatabaseTest, AFullDiskIsResourceExhaustedAndNothingIsStored) {
  auto db = Open();
  ASSERT_TRUE(db->Migrate("t", kTables).ok());
  // max_page_count makes SQLite itself report a full disk.
  ASSERT_TRUE(db->Write([](Transaction& tx) {
                  return tx.Query("PRAGMA max_page_count=1", {}, [](const Row&) { return absl::OkStatus(); });
                }).ok());
  const std::string big(1 << 20, 'x');
  EXPECT_EQ(Insert(*db, big, 1).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Count(*db), 0);
  EXPECT_TRUE(Insert(*db, "small", 1).ok());
}

TEST_F(DatabaseTest, ManyThreadsWriteAndRead) {
  auto db = Open();
  ASSERT_TRUE(db->Migrate("t", kTables).ok());
  constexpr int kThreads = 4;
  constexpr int kEach = 25;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        EXPECT_TRUE(Insert(*db, std::to_string(t * kEach + i), i).ok());
        EXPECT_GT(Count(*db), 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Count(*db), kThreads * kEach);
}

TEST_F(DatabaseTest, TellsWhatEachWriteCameTo) {
  std::vector<bool> stored;
  DatabaseOptions options;
  options.path = dir_.File("db");
  options.clock = &SystemClock();
  options.on_write = [&](double seconds, const absl::Status& status) {
    EXPECT_GE(seconds, 0);
    stored.push_back(status.ok());
  };
  auto db = Database::Open(options);
  ASSERT_TRUE(db.ok());
  ASSERT_TRUE((*db)->Migrate("t", kTables).ok());
  EXPECT_TRUE(Insert(**db, "x", 1).ok());
  EXPECT_FALSE(Insert(**db, "x", 1).ok());
  EXPECT_EQ(stored, (std::vector<bool>{true, false}));
}

TEST_F(DatabaseTest, ABackUpHoldsEverything) {
  auto db = Open();
  ASSERT_TRUE(db->Migrate("t", kTables).ok());
  ASSERT_TRUE(Insert(*db, "x", 1).ok());
  ASSERT_TRUE(db->BackUp(dir_.File("copy")).ok());
  auto copy = Database::Open({dir_.File("copy")});
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(Count(**copy), 1);
}

}  // namespace
}  // namespace sm89
