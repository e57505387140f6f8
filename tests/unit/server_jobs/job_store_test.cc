// Jobs of earlier versions stay readable, and what keeps a trace from being deleted.
#include "server/jobs/job_store.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "server/jobs/job_machine.h"
#include "server/store/blob_store.h"
#include "tests/support/temp_dir.h"

namespace sm89 {
namespace {

// The tables as the first release made them: this text never changes.
constexpr Migration kFirstRelease[] = {{1, R"(
CREATE TABLE jobs (
  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, revision INTEGER NOT NULL,
  state TEXT NOT NULL, reason TEXT NOT NULL, trace TEXT NOT NULL, config TEXT NOT NULL, spec TEXT NOT NULL,
  trace_digest TEXT NOT NULL, trace_blob TEXT NOT NULL, trace_display_name TEXT NOT NULL,
  config_digest TEXT NOT NULL, config_text TEXT NOT NULL, attempt INTEGER NOT NULL, fence INTEGER NOT NULL,
  worker TEXT NOT NULL, lost_attempts INTEGER NOT NULL, error TEXT NOT NULL, result_id TEXT NOT NULL,
  from_cache INTEGER NOT NULL, incomplete INTEGER NOT NULL, create_unix_nanos INTEGER NOT NULL,
  start_unix_nanos INTEGER NOT NULL, end_unix_nanos INTEGER NOT NULL, request_id TEXT UNIQUE,
  request_sha256 TEXT NOT NULL);
CREATE INDEX jobs_by_state ON jobs (state, number);
CREATE INDEX jobs_by_trace ON jobs (trace, number);
CREATE INDEX jobs_by_result ON jobs (result_id);
CREATE TABLE job_labels (
  job TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (job, key)) WITHOUT ROWID;
CREATE TABLE job_events (
  job TEXT NOT NULL, sequence INTEGER NOT NULL, unix_nanos INTEGER NOT NULL, state TEXT NOT NULL,
  reason TEXT NOT NULL, attempt INTEGER NOT NULL, PRIMARY KEY (job, sequence)) WITHOUT ROWID;
CREATE TABLE attempts (
  fence INTEGER PRIMARY KEY AUTOINCREMENT, job TEXT NOT NULL, attempt INTEGER NOT NULL, worker TEXT NOT NULL,
  start_unix_nanos INTEGER NOT NULL, end_unix_nanos INTEGER NOT NULL DEFAULT 0,
  end_reason TEXT NOT NULL DEFAULT '');
CREATE INDEX attempts_by_job ON attempts (job);
CREATE TABLE results (
  id TEXT PRIMARY KEY, cache_key TEXT NOT NULL, summary BLOB NOT NULL, incomplete INTEGER NOT NULL,
  create_unix_nanos INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX results_by_key ON results (cache_key);
CREATE TABLE result_artifacts (
  result TEXT NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, sha256 TEXT NOT NULL,
  size_bytes INTEGER NOT NULL, PRIMARY KEY (result, position)) WITHOUT ROWID;
CREATE TABLE worker_sessions (
  worker TEXT PRIMARY KEY, ticket_sha256 TEXT NOT NULL, session_sha256 TEXT NOT NULL, pid INTEGER NOT NULL,
  start_ticks INTEGER NOT NULL, host TEXT NOT NULL, version TEXT NOT NULL, start_unix_nanos INTEGER NOT NULL,
  restarts INTEGER NOT NULL, draining INTEGER NOT NULL) WITHOUT ROWID;
)"}};

constexpr char kFirstReleaseSpec[] =
    R"({"trace":"t","config":"RTX4090","overrides":[["-gpgpu_n_clusters","4"]],"kernels":"1-2",)"
    R"("max_cycles":9,"threads":1,"memory_bytes":1073741824,"wall_seconds":60,"labels":{"a":"b"},)"
    R"("priority":3,"no_result_cache":false,"display_name":"old"})";

constexpr char kFirstReleaseInsert[] =
    "INSERT INTO jobs (id, revision, state, reason, trace, config, spec, trace_digest, trace_blob, "
    "trace_display_name, config_digest, config_text, attempt, fence, worker, lost_attempts, error, "
    "result_id, from_cache, incomplete, create_unix_nanos, start_unix_nanos, end_unix_nanos, request_id, "
    "request_sha256) VALUES (?, 1, ?, '', 't', 'RTX4090', ?, 'td', 'tb', 't.tar.xz', 'cd', '', 0, 0, '', 0, "
    "'', ?, 0, 0, 5, 0, 0, ?, 'body')";

absl::Status Fine(Transaction&) { return absl::OkStatus(); }

class JobStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto db = Database::Open({dir_.File("db")});
    ASSERT_TRUE(db.ok()) << db.status();
    db_ = *std::move(db);
    auto blobs = BlobStore::Open(PosixFileStore(), SystemIdSource(), *db_, dir_.File("blobs"));
    ASSERT_TRUE(blobs.ok()) << blobs.status();
    blobs_ = *std::move(blobs);
  }
  JobStore Open() {
    absl::StatusOr<JobStore> store = JobStore::Open(*db_, *blobs_);
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }
  static Job WithCode(const std::string& id, JobState state, std::vector<std::string> sass) {
    Job job;
    job.id = id;
    job.revision = 1;
    job.state = state;
    job.spec.trace = "t";
    job.spec.config = "RTX4090";
    for (const std::string& code : sass) job.inputs.sass.push_back({code + " digest", "blob", "k.cubin"});
    job.spec.sass = std::move(sass);
    return job;
  }
  bool InUse(const std::string& trace) {
    absl::StatusOr<bool> used = false;
    const absl::Status written = db_->Write([&](Transaction& tx) {
      used = JobStore::TraceInUse(tx, trace);
      return used.status();
    });
    EXPECT_TRUE(written.ok()) << written;
    return used.ok() && *used;
  }

  testing::TempDir dir_;
  std::unique_ptr<Database> db_;
  std::unique_ptr<BlobStore> blobs_;
};

TEST_F(JobStoreTest, AJobOfTheFirstReleaseIsReadAndFinished) {
  ASSERT_TRUE(db_->Migrate("jobs", kFirstRelease).ok());
  ASSERT_TRUE(db_->Write([](Transaction& tx) -> absl::Status {
                   const absl::Status queued =
                       tx.Run(kFirstReleaseInsert, {"waiting", "QUEUED", kFirstReleaseSpec, "", "r1"});
                   if (!queued.ok()) return queued;
                   const absl::Status ended =
                       tx.Run(kFirstReleaseInsert, {"done", "SUCCEEDED", kFirstReleaseSpec, "res", "r2"});
                   if (!ended.ok()) return ended;
                   return tx.Run("INSERT INTO results VALUES ('res', 'key', 'summary', 0, 7)");
                 })
                  .ok());
  JobStore store = Open();
  const auto unfinished = store.LoadUnfinished();
  ASSERT_TRUE(unfinished.ok()) << unfinished.status();
  ASSERT_EQ(unfinished->size(), 1u);
  const Job& job = unfinished->front();
  EXPECT_EQ(job.id, "waiting");
  EXPECT_EQ(job.spec.kernels, "1-2");
  EXPECT_EQ(job.spec.overrides.at(0).value, "4");
  EXPECT_TRUE(job.spec.sass.empty() && job.inputs.sass.empty());
  EXPECT_FALSE(job.spec.keep_trace || job.spec.profile);
  EXPECT_EQ(job.spec.ser_trace, SerTraceFormat::kNone);
  EXPECT_EQ(PromisedArtifacts(job.spec), std::vector<std::string>{"result.bin"});
  EXPECT_EQ(store.FindByRequest("r1")->value().body_sha256, "body");
  EXPECT_EQ(store.FindCached("key")->value().summary, "summary");
  EXPECT_TRUE(InUse("t"));

  const Job dispatched = Dispatched(job, "local-0", *store.NextFence(), 10);
  ASSERT_TRUE(store.Update(job, dispatched, 10).ok());
  const Job running = *Reported(dispatched);
  ASSERT_TRUE(store.Update(dispatched, running, 11).ok());
  JobResult result;
  result.id = "mine";
  const Job ended = *Succeeded(running, result.id, false, 12);
  const std::map<std::string, BlobPin> no_pins;
  ASSERT_TRUE(store.UpdateWithResult(running, ended, {result, "other key", no_pins}, 12).ok());
  const auto found = store.Find("waiting");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->value().state, JobState::kSucceeded);
  EXPECT_EQ(found->value().spec.display_name, "old");
  EXPECT_FALSE(InUse("t"));
}

TEST_F(JobStoreTest, CodeIsInUseUntilTheJobsThatNameItHaveEnded) {
  JobStore store = Open();
  Job waiting = WithCode("a", JobState::kQueued, {"first", "second"});
  Job ended = WithCode("b", JobState::kFailed, {"third"});
  Job plain = WithCode("c", JobState::kQueued, {});
  for (Job* job : {&waiting, &ended, &plain}) ASSERT_TRUE(store.Insert(job, {}, Fine, 1).ok());
  EXPECT_TRUE(InUse("first"));
  EXPECT_TRUE(InUse("second"));
  EXPECT_FALSE(InUse("third"));
  EXPECT_FALSE(InUse("firs"));
  for (const JobState state :
       {JobState::kStarting, JobState::kRunning, JobState::kLostContact, JobState::kCancelling}) {
    Job next = waiting;
    next.state = state;
    ++next.revision;
    ASSERT_TRUE(store.Update(waiting, next, 2).ok());
    EXPECT_TRUE(InUse("second")) << Name(state);
    waiting = next;
  }
  const Job cancelled = *StopConfirmed(waiting, 3);
  ASSERT_TRUE(store.Update(waiting, cancelled, 3).ok());
  EXPECT_FALSE(InUse("second"));
}

TEST_F(JobStoreTest, ADamagedSpecificationDoesNotKeepEveryTrace) {
  JobStore store = Open();
  Job damaged = WithCode("a", JobState::kQueued, {"lost"});
  damaged.spec.trace = "of the damaged";
  Job whole = WithCode("b", JobState::kQueued, {"code"});
  for (Job* job : {&damaged, &whole}) ASSERT_TRUE(store.Insert(job, {}, Fine, 1).ok());
  ASSERT_TRUE(db_->Write([](Transaction& tx) {
                   return tx.Run("UPDATE jobs SET spec = '{\"sass\": [' WHERE id = 'a'");
                 })
                  .ok());
  EXPECT_FALSE(InUse("another"));
  EXPECT_TRUE(InUse("code"));
  EXPECT_TRUE(InUse("of the damaged"));
}

}  // namespace
}  // namespace sm89
