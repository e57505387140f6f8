#include "server/jobs/job_store.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/jobs/job_json.h"
#include "sim/base/assert.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

constexpr Migration kMigrations[] = {{1, R"(
CREATE TABLE jobs (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  revision INTEGER NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  trace TEXT NOT NULL,
  config TEXT NOT NULL,
  spec TEXT NOT NULL,
  trace_digest TEXT NOT NULL,
  trace_blob TEXT NOT NULL,
  trace_display_name TEXT NOT NULL,
  config_digest TEXT NOT NULL,
  config_text TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  worker TEXT NOT NULL,
  lost_attempts INTEGER NOT NULL,
  error TEXT NOT NULL,
  result_id TEXT NOT NULL,
  from_cache INTEGER NOT NULL,
  incomplete INTEGER NOT NULL,
  create_unix_nanos INTEGER NOT NULL,
  start_unix_nanos INTEGER NOT NULL,
  end_unix_nanos INTEGER NOT NULL,
  request_id TEXT UNIQUE,
  request_sha256 TEXT NOT NULL
);
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
  start_unix_nanos INTEGER NOT NULL, end_unix_nanos INTEGER NOT NULL DEFAULT 0, end_reason TEXT NOT NULL DEFAULT '');
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
)"},
                                     {2, R"(
ALTER TABLE jobs ADD COLUMN sass TEXT NOT NULL DEFAULT '';
CREATE INDEX jobs_by_sass ON jobs (state) WHERE sass <> '';
)"}};

// Columns in the order of JobFromRow.
#define SM89_JOB_COLUMNS                                                                                     \
  "number, id, revision, state, reason, spec, trace_digest, trace_blob, trace_display_name, config_digest, " \
  "config_text, "                                                                                            \
  "attempt, fence, worker, lost_attempts, error, result_id, from_cache, incomplete, create_unix_nanos, "     \
  "start_unix_nanos, end_unix_nanos, sass"
constexpr int kJobColumns = 23;

// ?1 state, ?2 trace, ?3 config, ?4..?11 label keys and values; '' = any.
#define SM89_JOB_FILTER                                                                            \
  "(?1 = '' OR state = ?1) AND (?2 = '' OR trace = ?2) AND (?3 = '' OR config = ?3)"               \
  " AND (?4 = '' OR EXISTS (SELECT 1 FROM job_labels WHERE job = id AND key = ?4 AND value = ?5))" \
  " AND (?6 = '' OR EXISTS (SELECT 1 FROM job_labels WHERE job = id AND key = ?6 AND value = ?7))" \
  " AND (?8 = '' OR EXISTS (SELECT 1 FROM job_labels WHERE job = id AND key = ?8 AND value = ?9))" \
  " AND (?10 = '' OR EXISTS (SELECT 1 FROM job_labels WHERE job = id AND key = ?10 AND value = ?11))"
static_assert(kFilterLabelsMax == 4, "SM89_JOB_FILTER has four label terms");

constexpr char kSelectJob[] = "SELECT " SM89_JOB_COLUMNS " FROM jobs WHERE id = ?";
constexpr char kSelectByRequest[] =
    "SELECT " SM89_JOB_COLUMNS ", request_sha256 FROM jobs WHERE request_id = ?";
constexpr char kSelectUnfinished[] =
    "SELECT " SM89_JOB_COLUMNS
    " FROM jobs WHERE state NOT IN ('SUCCEEDED', 'FAILED', 'CANCELLED') ORDER BY number";
constexpr char kSelectPage[] = "SELECT " SM89_JOB_COLUMNS " FROM jobs WHERE " SM89_JOB_FILTER
                               " AND number < ?12 ORDER BY number DESC LIMIT ?13";
constexpr char kCountMatching[] = "SELECT COUNT(*) FROM jobs WHERE " SM89_JOB_FILTER;
constexpr char kInsertJob[] =
    "INSERT INTO jobs (id, revision, state, reason, trace, config, spec, trace_digest, trace_blob, "
    "trace_display_name, "
    "config_digest, config_text, attempt, fence, worker, lost_attempts, error, result_id, from_cache, "
    "incomplete, create_unix_nanos, start_unix_nanos, end_unix_nanos, request_id, request_sha256, sass) "
    "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) RETURNING number";
// The revision guards against a lost update: no other writer exists, so a miss is a bug.
constexpr char kUpdateJob[] =
    "UPDATE jobs SET revision = ?, state = ?, reason = ?, spec = ?, attempt = ?, fence = ?, worker = ?, "
    "lost_attempts = ?, error = ?, result_id = ?, from_cache = ?, incomplete = ?, start_unix_nanos = ?, "
    "end_unix_nanos = ? WHERE id = ? AND revision = ?";
constexpr char kInsertEvent[] =
    "INSERT INTO job_events (job, sequence, unix_nanos, state, reason, attempt) VALUES (?,?,?,?,?,?)";
// Keeps the newest 64.
constexpr char kTrimEvents[] =
    "DELETE FROM job_events WHERE job = ?1 AND sequence <= (SELECT sequence FROM job_events WHERE job = ?1 "
    "ORDER BY sequence DESC LIMIT 1 OFFSET ?2)";
// Machine code is named in the specification only. By its index or not at all: it runs in the one writing
// transaction. A specification that is damaged names nothing, and is no reason to keep every trace.
constexpr char kSelectCodeUse[] =
    "SELECT 1 FROM jobs INDEXED BY jobs_by_sass, "
    "json_each(CASE WHEN json_valid(jobs.spec) THEN jobs.spec ELSE '{}' END, '$.sass') AS code "
    "WHERE jobs.sass <> '' AND jobs.state IN ('QUEUED', 'STARTING', 'RUNNING', 'LOST_CONTACT', 'CANCELLING') "
    "AND code.value = ? LIMIT 1";
constexpr char kSelectResult[] = "SELECT id, summary, incomplete FROM results WHERE id = ?";
constexpr char kSelectCached[] =
    "SELECT id, summary, incomplete FROM results WHERE cache_key = ? ORDER BY create_unix_nanos LIMIT 1";

absl::StatusOr<Job> JobFromRow(const Row& row) {
  Job job;
  job.number = row.Uint(0);
  job.id = row.Text(1);
  job.revision = row.Uint(2);
  const std::optional<JobState> state = ParseJobState(row.Text(3));
  if (!state.has_value()) return absl::DataLossError(absl::StrCat("job ", job.id, " has an unknown state"));
  job.state = *state;
  job.reason = row.Text(4);
  ASSIGN_OR_RETURN(job.spec, SpecFromJson(row.Text(5)));
  job.inputs = {row.Text(6), row.Text(7), row.Text(8), row.Text(9), row.Text(10)};
  job.place.attempt = static_cast<uint32_t>(row.Int(11));
  job.place.fence = row.Uint(12);
  job.place.worker = row.Text(13);
  job.place.lost_attempts = static_cast<uint32_t>(row.Int(14));
  ASSIGN_OR_RETURN(job.outcome.error, ErrorFromJson(row.Text(15)));
  job.outcome.result_id = row.Text(16);
  job.outcome.from_cache = row.Bool(17);
  job.outcome.incomplete = row.Bool(18);
  job.times = {row.Int(19), row.Int(20), row.Int(21)};
  ASSIGN_OR_RETURN(job.inputs.sass, CodeInputsFromJson(row.Text(22)));
  return job;
}

absl::Status AppendJob(const Row& row, std::vector<Job>* jobs) {
  ASSIGN_OR_RETURN(Job job, JobFromRow(row));
  jobs->push_back(std::move(job));
  return absl::OkStatus();
}

absl::Status WriteEvent(Transaction& tx, const Job& job, int64_t now_unix_nanos) {
  RETURN_IF_ERROR(tx.Run(kInsertEvent, {job.id, SequenceOf(job.revision, 0), now_unix_nanos, Name(job.state),
                                        job.reason, job.place.attempt}));
  return tx.Run(kTrimEvents, {job.id, kHistoryEntriesMax});
}

absl::Status WriteLabels(Transaction& tx, const Job& job) {
  RETURN_IF_ERROR(tx.Run("DELETE FROM job_labels WHERE job = ?", {job.id}));
  for (const auto& [key, value] : job.spec.labels) {
    RETURN_IF_ERROR(tx.Run("INSERT INTO job_labels (job, key, value) VALUES (?,?,?)", {job.id, key, value}));
  }
  return absl::OkStatus();
}

std::string ResultOwner(const std::string& result_id) { return absl::StrCat("results/", result_id); }

}  // namespace

absl::StatusOr<JobStore> JobStore::Open(Database& db, BlobStore& blobs) {
  RETURN_IF_ERROR(db.Migrate("jobs", kMigrations));
  return JobStore(db, blobs);
}

absl::Status JobStore::Insert(Job* job, const SubmitKey& key, const InsertCheck& check,
                              int64_t now_unix_nanos) {
  return db_->Write([&](Transaction& tx) -> absl::Status {
    RETURN_IF_ERROR(check(tx));
    const std::string spec = SpecToJson(job->spec);
    const std::string error = ErrorToJson(job->outcome.error);
    const SqlValue request_id = key.request_id.empty() ? SqlValue(nullptr) : SqlValue(key.request_id);
    RETURN_IF_ERROR(tx.Query(kInsertJob,
                             {job->id,
                              job->revision,
                              Name(job->state),
                              job->reason,
                              job->spec.trace,
                              job->spec.config,
                              spec,
                              job->inputs.trace_digest,
                              job->inputs.trace_blob,
                              job->inputs.trace_display_name,
                              job->inputs.config_digest,
                              job->inputs.config_text,
                              job->place.attempt,
                              job->place.fence,
                              job->place.worker,
                              job->place.lost_attempts,
                              error,
                              job->outcome.result_id,
                              job->outcome.from_cache,
                              job->outcome.incomplete,
                              job->times.create_unix_nanos,
                              job->times.start_unix_nanos,
                              job->times.end_unix_nanos,
                              request_id,
                              key.body_sha256,
                              CodeInputsToJson(job->inputs.sass)},
                             [job](const Row& row) {
                               job->number = row.Uint(0);
                               return absl::OkStatus();
                             }));
    RETURN_IF_ERROR(WriteLabels(tx, *job));
    return WriteEvent(tx, *job, now_unix_nanos);
  });
}

absl::Status JobStore::WriteJob(Transaction& tx, const Job& before, const Job& after,
                                int64_t now_unix_nanos) {
  SM89_ASSERT(after.revision == before.revision + 1, "every stored change raises the revision");
  const std::string spec = SpecToJson(after.spec);
  const std::string error = ErrorToJson(after.outcome.error);
  RETURN_IF_ERROR(tx.Run(
      kUpdateJob, {after.revision, Name(after.state), after.reason, spec, after.place.attempt,
                   after.place.fence, after.place.worker, after.place.lost_attempts, error,
                   after.outcome.result_id, after.outcome.from_cache, after.outcome.incomplete,
                   after.times.start_unix_nanos, after.times.end_unix_nanos, after.id, before.revision}));
  if (tx.RowsChanged() != 1)
    return absl::InternalError(absl::StrCat("job ", after.id, " was changed elsewhere"));
  if (after.spec.labels != before.spec.labels) RETURN_IF_ERROR(WriteLabels(tx, after));
  if (after.place.fence != before.place.fence) {
    RETURN_IF_ERROR(
        tx.Run("INSERT INTO attempts (fence, job, attempt, worker, start_unix_nanos) VALUES (?,?,?,?,?)",
               {after.place.fence, after.id, after.place.attempt, after.place.worker, now_unix_nanos}));
  } else if (IsActive(before.state) && !IsActive(after.state)) {
    RETURN_IF_ERROR(tx.Run("UPDATE attempts SET end_unix_nanos = ?, end_reason = ? WHERE fence = ?",
                           {now_unix_nanos, after.reason, after.place.fence}));
  }
  return WriteEvent(tx, after, now_unix_nanos);
}

absl::Status JobStore::Update(const Job& before, const Job& after, int64_t now_unix_nanos) {
  return db_->Write([&](Transaction& tx) { return WriteJob(tx, before, after, now_unix_nanos); });
}

absl::Status JobStore::UpdateWithResult(const Job& before, const Job& after, const NewResult& result,
                                        int64_t now_unix_nanos) {
  SM89_ASSERT(after.outcome.result_id == result.result.id, "the job names the result stored with it");
  return db_->Write([&](Transaction& tx) -> absl::Status {
    RETURN_IF_ERROR(tx.Run(
        "INSERT INTO results (id, cache_key, summary, incomplete, create_unix_nanos) VALUES (?,?,?,?,?)",
        {result.result.id, result.cache_key, SqlValue(SqlValue::Blob{result.result.summary}),
         result.result.incomplete, now_unix_nanos}));
    const std::string owner = ResultOwner(result.result.id);
    for (size_t i = 0; i < result.result.artifacts.size(); ++i) {
      const ArtifactRef& artifact = result.result.artifacts[i];
      RETURN_IF_ERROR(tx.Run(
          "INSERT INTO result_artifacts (result, position, name, sha256, size_bytes) VALUES (?,?,?,?,?)",
          {result.result.id, i, artifact.name, artifact.sha256, artifact.size_bytes}));
    }
    for (const auto& [name, pin] : result.pins) RETURN_IF_ERROR(blobs_->AddRef(tx, owner, pin));
    return WriteJob(tx, before, after, now_unix_nanos);
  });
}

absl::Status JobStore::Delete(const Job& job) {
  SM89_ASSERT(IsTerminal(job.state), "only ended jobs are deleted");
  std::vector<std::string> dropped;
  const Database::Body body = [&](Transaction& tx) -> absl::Status {
    RETURN_IF_ERROR(tx.Run("DELETE FROM jobs WHERE id = ?", {job.id}));
    RETURN_IF_ERROR(tx.Run("DELETE FROM job_labels WHERE job = ?", {job.id}));
    RETURN_IF_ERROR(tx.Run("DELETE FROM job_events WHERE job = ?", {job.id}));
    RETURN_IF_ERROR(tx.Run("DELETE FROM attempts WHERE job = ?", {job.id}));
    const std::string& result = job.outcome.result_id;
    if (result.empty()) return absl::OkStatus();
    bool shared = false;
    RETURN_IF_ERROR(tx.Query("SELECT 1 FROM jobs WHERE result_id = ? LIMIT 1", {result}, [&](const Row&) {
      shared = true;
      return absl::OkStatus();
    }));
    if (shared) return absl::OkStatus();
    RETURN_IF_ERROR(tx.Run("DELETE FROM results WHERE id = ?", {result}));
    RETURN_IF_ERROR(tx.Run("DELETE FROM result_artifacts WHERE result = ?", {result}));
    return blobs_->DropRefs(tx, ResultOwner(result), &dropped);
  };
  RETURN_IF_ERROR(db_->Write(body));
  blobs_->RemoveUnreferenced(dropped);
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Job>> JobStore::Find(const std::string& id) {
  std::vector<Job> jobs;
  const Database::Body body = [&](Transaction& tx) {
    return tx.Query(kSelectJob, {id}, [&](const Row& row) { return AppendJob(row, &jobs); });
  };
  RETURN_IF_ERROR(db_->Read(body));
  return jobs.empty() ? std::nullopt : std::optional<Job>(std::move(jobs.front()));
}

absl::StatusOr<std::optional<StoredSubmit>> JobStore::FindByRequest(const std::string& request_id) {
  std::optional<StoredSubmit> found;
  const Database::Body body = [&](Transaction& tx) {
    return tx.Query(kSelectByRequest, {request_id}, [&](const Row& row) -> absl::Status {
      ASSIGN_OR_RETURN(Job job, JobFromRow(row));
      found = StoredSubmit{std::move(job), row.Text(kJobColumns)};
      return absl::OkStatus();
    });
  };
  RETURN_IF_ERROR(db_->Read(body));
  return found;
}

absl::StatusOr<std::vector<Job>> JobStore::LoadUnfinished() {
  std::vector<Job> jobs;
  const Database::Body body = [&](Transaction& tx) {
    return tx.Query(kSelectUnfinished, {}, [&](const Row& row) { return AppendJob(row, &jobs); });
  };
  RETURN_IF_ERROR(db_->Read(body));
  return jobs;
}

absl::StatusOr<JobPage> JobStore::List(const JobFilter& filter, uint64_t before_number, uint32_t count) {
  JobPage page;
  const std::string state = filter.state.has_value() ? std::string(Name(*filter.state)) : std::string();
  std::vector<SqlValue> values = {state, filter.trace, filter.config};
  for (size_t i = 0; i < kFilterLabelsMax; ++i) {
    const bool given = i < filter.labels.size();
    values.emplace_back(given ? std::string_view(filter.labels[i].first) : std::string_view());
    values.emplace_back(given ? std::string_view(filter.labels[i].second) : std::string_view());
  }
  const Database::Body body = [&](Transaction& tx) -> absl::Status {
    RETURN_IF_ERROR(tx.Query(kCountMatching, std::span<const SqlValue>(values), [&](const Row& row) {
      page.total = row.Uint(0);
      return absl::OkStatus();
    }));
    values.emplace_back(before_number);
    values.emplace_back(uint64_t{count} + 1);  // one more tells whether a page follows
    return tx.Query(kSelectPage, std::span<const SqlValue>(values),
                    [&](const Row& row) { return AppendJob(row, &page.jobs); });
  };
  RETURN_IF_ERROR(db_->Read(body));
  page.more = page.jobs.size() > count;
  if (page.more) page.jobs.resize(count);
  return page;
}

absl::StatusOr<std::vector<JobHistoryEntry>> JobStore::History(const std::string& id) {
  std::vector<JobHistoryEntry> entries;
  const Database::Body body = [&](Transaction& tx) {
    return tx.Query(
        "SELECT sequence, unix_nanos, state, reason, attempt FROM job_events WHERE job = ? ORDER BY sequence",
        {id}, [&](const Row& row) -> absl::Status {
          const std::optional<JobState> state = ParseJobState(row.Text(2));
          if (!state.has_value())
            return absl::DataLossError(absl::StrCat("unknown state in history of ", id));
          entries.push_back(
              {row.Uint(0), row.Int(1), *state, row.Text(3), static_cast<uint32_t>(row.Int(4))});
          return absl::OkStatus();
        });
  };
  RETURN_IF_ERROR(db_->Read(body));
  return entries;
}

absl::StatusOr<std::optional<JobResult>> JobStore::FindResultBy(const char* sql, const std::string& value) {
  std::optional<JobResult> found;
  const Database::Body body = [&](Transaction& tx) -> absl::Status {
    RETURN_IF_ERROR(tx.Query(sql, {value}, [&](const Row& row) {
      found.emplace();
      found->id = row.Text(0);
      found->summary = row.Text(1);
      found->incomplete = row.Bool(2);
      return absl::OkStatus();
    }));
    if (!found.has_value()) return absl::OkStatus();
    return tx.Query(
        "SELECT name, sha256, size_bytes FROM result_artifacts WHERE result = ? ORDER BY position",
        {found->id}, [&](const Row& row) {
          found->artifacts.push_back({row.Text(0), row.Text(1), row.Uint(2)});
          return absl::OkStatus();
        });
  };
  RETURN_IF_ERROR(db_->Read(body));
  return found;
}

absl::StatusOr<std::optional<JobResult>> JobStore::FindResult(const std::string& result_id) {
  return FindResultBy(kSelectResult, result_id);
}

absl::StatusOr<std::optional<JobResult>> JobStore::FindCached(const std::string& cache_key) {
  return FindResultBy(kSelectCached, cache_key);
}

absl::StatusOr<uint64_t> JobStore::NextFence() {
  uint64_t last = 0;
  const Database::Body body = [&](Transaction& tx) {
    return tx.Query("SELECT seq FROM sqlite_sequence WHERE name = 'attempts'", {}, [&](const Row& row) {
      last = row.Uint(0);
      return absl::OkStatus();
    });
  };
  RETURN_IF_ERROR(db_->Read(body));
  return last + 1;
}

absl::StatusOr<bool> JobStore::TraceInUse(Transaction& tx, const std::string& trace_id) {
  bool in_use = false;
  const RowCallback found = [&in_use](const Row&) {
    in_use = true;
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(tx.Query(
      "SELECT 1 FROM jobs WHERE trace = ? AND state NOT IN ('SUCCEEDED', 'FAILED', 'CANCELLED') LIMIT 1",
      {trace_id}, found));
  if (in_use) return true;
  RETURN_IF_ERROR(tx.Query(kSelectCodeUse, {trace_id}, found));
  return in_use;
}

absl::StatusOr<std::vector<std::pair<JobState, uint64_t>>> JobStore::CountByState() {
  std::vector<std::pair<JobState, uint64_t>> counts;
  const Database::Body body = [&](Transaction& tx) {
    return tx.Query("SELECT state, COUNT(*) FROM jobs GROUP BY state", {},
                    [&](const Row& row) -> absl::Status {
                      const std::optional<JobState> state = ParseJobState(row.Text(0));
                      if (!state.has_value()) return absl::DataLossError("unknown state in table jobs");
                      counts.emplace_back(*state, row.Uint(1));
                      return absl::OkStatus();
                    });
  };
  RETURN_IF_ERROR(db_->Read(body));
  return counts;
}

}  // namespace sm89
