// The manager's insides, shared by its two source files: trace_manager.cc (calls on rows and bytes) and
// trace_finalize.cc (reading uploads). Private to server/traces.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/os/mutex.h"
#include "server/traces/ingest_runner.h"
#include "server/traces/trace_manager.h"
#include "server/traces/upload_file.h"

namespace sm89 {

// Lock order: mutex_ is never held while calling the database, a file, a callback or the observer.
class TraceManagerImpl final : public TraceManager {
 public:
  TraceManagerImpl(const TraceDeps& deps, const TraceManagerOptions& options);
  ~TraceManagerImpl() override;

  // Once, before anything else.
  absl::Status Recover();
  void StartThreads();

  void SetInUseCheck(InUseCheck check) override { in_use_ = std::move(check); }
  absl::StatusOr<BeginUploadAnswer> Begin(const BeginUpload& request) override;
  absl::StatusOr<std::unique_ptr<UploadStream>> OpenStream(const std::string& id) override;
  absl::StatusOr<TraceRecord> Query(const std::string& id) override { return Get(id); }
  uint64_t Finalize(const std::string& id, FinalizeCallback done) override;
  void ForgetFinalize(const std::string& id, uint64_t ticket) override;
  absl::Status Abort(const std::string& id) override;
  absl::StatusOr<TraceRecord> Get(const std::string& id) override;
  absl::StatusOr<TracePage> List(const TraceFilter& filter, int64_t before, uint32_t page_size) override;
  absl::Status Delete(const std::string& id, const std::string& etag) override;
  absl::StatusOr<TraceRecord> RequireReady(Transaction& tx, const std::string& id) override;
  void Sweep() override;
  Counts counts() override;

 private:
  using Waiters = std::map<uint64_t, FinalizeCallback>;
  // An upload that is UPLOADING or VALIDATING: one for each such row.
  struct Upload {
    std::shared_ptr<UploadFile> file;
    bool validating = false;  // from the first Finalize on
    bool aborted = false;
    std::shared_ptr<IngestCancel> cancel = std::make_shared<IngestCancel>();
    Waiters waiters;
  };

  // trace_manager.cc
  absl::Status CheckRequest(const BeginUpload& request) const;
  absl::Status CheckRoom(Transaction& tx, const BeginUpload& request);
  absl::StatusOr<BeginUploadAnswer> BeginInTransaction(Transaction& tx, const BeginUpload& request,
                                                       bool* is_new);
  absl::StatusOr<std::optional<TraceRecord>> FindEarlier(Transaction& tx, const BeginUpload& request,
                                                         const std::string& body_hash, bool* repeated);
  absl::Status AddUpload(const TraceRecord& record);
  absl::Status RecoverUpload(TraceRecord record);
  absl::Status CheckReadyTraces();
  absl::Status ClearUploadsDir();
  std::string DirOf(const std::string& id) const { return options_.uploads_dir + "/" + id; }
  std::shared_ptr<UploadFile> FindFile(const std::string& id);
  void Overlay(TraceRecord* record);

  // trace_finalize.cc
  void Work();
  void Process(const std::string& id);
  absl::Status StartValidating(const std::string& id, UploadFile& file);
  IngestOutcome Ingest(const TraceRecord& record, const std::string& path, IngestCancel& cancel);
  absl::Status CheckDigest(const TraceRecord& record, const std::string& path, IngestCancel& cancel);
  enum class End : uint8_t {
    kClosed,   // READY, INVALID or gone
    kAgain,    // back to UPLOADING
    kStopped,  // we are shutting down: the row stays VALIDATING
  };
  absl::StatusOr<TraceRecord> Conclude(const TraceRecord& record, IngestOutcome outcome, End* end);
  void Settle(const std::string& id, UploadFile& file, End end, absl::StatusOr<TraceRecord> result);
  absl::StatusOr<TraceRecord> StoreReady(const TraceRecord& record, IngestOutcome outcome);
  void StoreOutcomeState(const std::string& id, TraceState state, const absl::Status& error);
  void Answer(Waiters waiters, const absl::StatusOr<TraceRecord>& result);
  void SweepLoop();

  TraceObserver& observer() { return deps_.observer != nullptr ? *deps_.observer : no_observer_; }

  const TraceDeps deps_;
  const TraceManagerOptions options_;
  TraceObserver no_observer_;
  IngestRunner runner_;
  InUseCheck in_use_;

  Mutex mutex_;
  CondVar changed_;
  std::map<std::string, Upload> uploads_ SM89_GUARDED_BY(mutex_);
  std::deque<std::string> queue_ SM89_GUARDED_BY(mutex_);  // to be read; each id at most once
  uint64_t next_ticket_ SM89_GUARDED_BY(mutex_) = 1;
  bool stopping_ SM89_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace sm89
