// Traces and uploads of the first release stay what they were.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/support/trace_fixture.h"

namespace sm89 {
namespace {

// The tables as the first release made them: this text never changes.
constexpr Migration kFirstRelease[] = {{1, R"(
CREATE TABLE traces(
  sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, display_name TEXT NOT NULL,
  state INTEGER NOT NULL, upload_sha256 TEXT NOT NULL, upload_bytes INTEGER NOT NULL,
  committed_bytes INTEGER NOT NULL, foreign_arch INTEGER NOT NULL, allow_partial INTEGER NOT NULL,
  unknown_as_nop INTEGER NOT NULL, digest TEXT NOT NULL, blob TEXT NOT NULL, stored_bytes INTEGER NOT NULL,
  kernels INTEGER NOT NULL, warp_instructions INTEGER NOT NULL, thread_instructions INTEGER NOT NULL,
  memcpy_h2d_bytes INTEGER NOT NULL, marks TEXT NOT NULL, warnings TEXT NOT NULL, error TEXT NOT NULL,
  create_unix_nanos INTEGER NOT NULL, version INTEGER NOT NULL);
CREATE INDEX traces_by_upload ON traces(upload_sha256);
CREATE TABLE upload_requests(
  request_id TEXT PRIMARY KEY, body_hash TEXT NOT NULL, trace_id TEXT NOT NULL,
  create_unix_nanos INTEGER NOT NULL) WITHOUT ROWID;
)"}};

constexpr char kInsert[] =
    "INSERT INTO traces(id, display_name, state, upload_sha256, upload_bytes, committed_bytes, foreign_arch, "
    "allow_partial, unknown_as_nop, digest, blob, stored_bytes, kernels, warp_instructions, "
    "thread_instructions, memcpy_h2d_bytes, marks, warnings, error, create_unix_nanos, version) "
    "VALUES(?, 't.tar.xz', ?, ?, ?, ?, 0, 1, 0, 'digest', ?, 7, 2, 30, 900, 64, '[\"m\"]', '[]', '', 5, 3)";

class FirstReleaseTest : public testing::TraceFixture {
 protected:
  void SetUp() override {
    {
      const auto db = Database::Open({dir_.File("db")});
      ASSERT_TRUE(db.ok()) << db.status();
      const auto blobs = BlobStore::Open(files_, SystemIdSource(), **db, dir_.File("blobs"));
      ASSERT_TRUE(blobs.ok()) << blobs.status();
      ASSERT_TRUE((*db)->Migrate("traces", kFirstRelease).ok());
      const auto pin = (*blobs)->AddBytes("compact");
      ASSERT_TRUE(pin.ok()) << pin.status();
      const absl::Status written = (*db)->Write([&](Transaction& tx) -> absl::Status {
        absl::Status status = (*blobs)->AddRef(tx, "traces/old", *pin);
        status.Update(tx.Run(
            kInsert, {"old", static_cast<int>(TraceState::kReady), Sha256Hex("ready"), 5, 5, pin->digest()}));
        status.Update(tx.Run(
            kInsert, {"open", static_cast<int>(TraceState::kUploading), Sha256Hex("0123456789"), 10, 4, ""}));
        // By the first release's rule.
        const std::string body = absl::StrCat("t.tar.xz\n10\n", Sha256Hex("0123456789"), "\n010");
        status.Update(tx.Run("INSERT INTO upload_requests VALUES('r1', ?, 'open', 5)", {Sha256Hex(body)}));
        return status;
      });
      ASSERT_TRUE(written.ok()) << written;
    }
    std::filesystem::create_directories(dir_.File("uploads/open"));
    testing::WriteFile(dir_.File("uploads/open/t.tar.xz"), "0123");
    TraceFixture::SetUp();
  }
};

TEST_F(FirstReleaseTest, AStoredTraceIsReadAndFoundAgain) {
  const auto trace = manager_->Get("old");
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->state, TraceState::kReady);
  EXPECT_EQ(trace->content.thread_instructions, 900u);
  EXPECT_EQ(trace->content.marks, std::vector<std::string>{"m"});
  EXPECT_TRUE(trace->options.allow_partial);
  EXPECT_FALSE(trace->options.machine_code);
  BeginUpload same = Request("ready");
  same.options.allow_partial = true;
  EXPECT_EQ(manager_->Begin(same)->existing->id, "old");
  same.options.allow_partial = false;
  same.options.machine_code = true;
  EXPECT_FALSE(manager_->Begin(same)->existing.has_value()) << "code is no trace";
  EXPECT_TRUE(manager_->Delete("old", "v3").ok());
}

TEST_F(FirstReleaseTest, AnUploadUnderWayGoesOn) {
  BeginUpload request = Request("0123456789");
  request.options.allow_partial = true;
  request.request_id = "r1";
  const auto answer = manager_->Begin(request);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->upload_id, "open");
  EXPECT_EQ(answer->committed_bytes, 4u);
  ASSERT_TRUE(Write("open", 4, "456789").ok());
  const auto trace = Finalize("open");
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->state, TraceState::kReady);
  request.options = {};
  request.options.machine_code = true;
  EXPECT_EQ(manager_->Begin(request).status().code(), absl::StatusCode::kAlreadyExists);
}

}  // namespace
}  // namespace sm89
