// Jobs in SQLite: one row a job, its history, its attempts, its result. Every change of a job is one
// transaction; what is in memory follows only after it was committed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/jobs/job_filter.h"
#include "server/jobs/job_types.h"
#include "server/store/blob_store.h"
#include "server/store/database.h"

namespace sm89 {

struct SubmitKey {
  std::string request_id;  // empty = not idempotent
  std::string body_sha256;
};

struct StoredSubmit {
  Job job;
  std::string body_sha256;
};

struct JobPage {
  std::vector<Job> jobs;  // newest first
  bool more = false;
  uint64_t total = 0;  // matching the filter
};

// A finished run to be stored with its job's last transition. `pins` (by artifact name) keep the blobs until
// it is committed.
struct NewResult {
  JobResult result;
  std::string cache_key;
  const std::map<std::string, BlobPin>& pins;
};

class JobStore {
 public:
  // Brings the tables up to date. Both must outlive the store.
  static absl::StatusOr<JobStore> Open(Database& db, BlobStore& blobs);

  // A last look inside the transaction that accepts the job; its error refuses it.
  using InsertCheck = std::function<absl::Status(Transaction&)>;
  // Sets job->number. ALREADY_EXISTS when the request id is taken.
  absl::Status Insert(Job* job, const SubmitKey& key, const InsertCheck& check, int64_t now_unix_nanos);
  // One transition: row, history, and the attempt's start or end when it has one.
  absl::Status Update(const Job& before, const Job& after, int64_t now_unix_nanos);
  // The same, with the result that ends it.
  absl::Status UpdateWithResult(const Job& before, const Job& after, const NewResult& result,
                                int64_t now_unix_nanos);
  // With its history and attempts; its result goes with the last job that has it.
  absl::Status Delete(const Job& job);

  absl::StatusOr<std::optional<Job>> Find(const std::string& id);
  absl::StatusOr<std::optional<StoredSubmit>> FindByRequest(const std::string& request_id);
  // In submission order.
  absl::StatusOr<std::vector<Job>> LoadUnfinished();
  absl::StatusOr<JobPage> List(const JobFilter& filter, uint64_t before_number, uint32_t count);
  absl::StatusOr<std::vector<JobHistoryEntry>> History(const std::string& id);

  absl::StatusOr<std::optional<JobResult>> FindResult(const std::string& result_id);
  // The result of an equal question.
  absl::StatusOr<std::optional<JobResult>> FindCached(const std::string& cache_key);

  // A job that has not ended names this trace. For the transaction that deletes the trace.
  static absl::StatusOr<bool> TraceInUse(Transaction& tx, const std::string& trace_id);

  // Larger than every fence ever stored.
  absl::StatusOr<uint64_t> NextFence();
  absl::StatusOr<std::vector<std::pair<JobState, uint64_t>>> CountByState();

 private:
  JobStore(Database& db, BlobStore& blobs) : db_(&db), blobs_(&blobs) {}
  absl::Status WriteJob(Transaction& tx, const Job& before, const Job& after, int64_t now_unix_nanos);
  absl::StatusOr<std::optional<JobResult>> FindResultBy(const char* sql, const std::string& value);

  Database* db_;
  BlobStore* blobs_;
};

}  // namespace sm89
