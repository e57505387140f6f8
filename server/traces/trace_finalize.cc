// Reading uploads: the queue, its threads, and what becomes of each.
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/log/log.h"
#include "server/traces/trace_manager_impl.h"
#include "server/traces/trace_store.h"
#include "sim/base/assert.h"
#include "sim/base/digest.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"

namespace sm89 {
namespace {

constexpr size_t kWaitersMax = 256;  // calls that wait for one upload
constexpr uint64_t kHashBytes = 1 << 20;

absl::Status MissingBytes(const std::string& id, uint64_t committed, uint64_t size) {
  Fault fault;
  fault.field = "upload";
  fault.value = absl::StrCat(committed, " bytes");
  fault.expected = absl::StrCat(size, " bytes");
  fault.message = absl::StrCat("uploads/", id, " is not complete: go on at byte ", committed);
  fault.facts = {{"committed_bytes", absl::StrCat(committed)}, {"size_bytes", absl::StrCat(size)}};
  return InputError(absl::StatusCode::kFailedPrecondition, fault);
}

}  // namespace

void TraceManagerImpl::StartThreads() {
  for (uint64_t i = 0; i < options_.limits.ingests; ++i) threads_.emplace_back([this] { Work(); });
  if (options_.sweep_interval > Duration::zero()) threads_.emplace_back([this] { SweepLoop(); });
}

TraceManagerImpl::~TraceManagerImpl() {
  std::vector<std::shared_ptr<IngestCancel>> running;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    for (auto& [id, upload] : uploads_) running.push_back(upload.cancel);
  }
  for (const auto& cancel : running) cancel->Cancel();
  changed_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
  std::map<std::string, Upload> left;
  {
    MutexLock lock(mutex_);
    left.swap(uploads_);
  }
  for (auto& [id, upload] : left) {
    Answer(std::move(upload.waiters),
           absl::UnavailableError("the server is shutting down; finalize again later"));
  }
}

void TraceManagerImpl::SweepLoop() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    changed_.WaitFor(mutex_, options_.sweep_interval);
    if (stopping_) return;
    mutex_.Unlock();
    Sweep();
    mutex_.Lock();
  }
}

uint64_t TraceManagerImpl::Finalize(const std::string& id, FinalizeCallback done) {
  std::shared_ptr<UploadFile> file;
  bool first = false;
  bool full = false;
  uint64_t ticket = 0;
  {
    MutexLock lock(mutex_);
    ticket = next_ticket_++;
    const auto it = uploads_.find(id);
    if (it != uploads_.end() && !it->second.aborted) {
      file = it->second.file;
      full = it->second.waiters.size() >= kWaitersMax;
      first = !it->second.validating;
      if (!full) {
        it->second.validating = true;
        it->second.waiters.emplace(ticket, std::move(done));
      }
    }
  }
  if (file == nullptr) {
    absl::StatusOr<TraceRecord> record = Get(id);
    if (record.ok() && record->state == TraceState::kInvalid) {
      done(absl::Status(record->error));
    } else {
      done(std::move(record));
    }
    return ticket;
  }
  if (full) {
    done(absl::ResourceExhaustedError("too many calls wait for this upload already; get the trace instead"));
    return ticket;
  }
  if (!first) return ticket;
  if (const absl::Status started = StartValidating(id, *file); !started.ok()) {
    Waiters waiters;
    {
      MutexLock lock(mutex_);
      if (const auto it = uploads_.find(id); it != uploads_.end()) {
        it->second.validating = false;
        waiters.swap(it->second.waiters);
        if (it->second.aborted) uploads_.erase(it);
      }
    }
    Answer(std::move(waiters), started);
  }
  return ticket;
}

absl::Status TraceManagerImpl::StartValidating(const std::string& id, UploadFile& file) {
  ASSIGN_OR_RETURN(const uint64_t committed, file.Sync());
  RETURN_IF_ERROR(deps_.db->Write([&](Transaction& tx) -> absl::Status {
    ASSIGN_OR_RETURN(TraceRecord record, trace_store::Get(tx, id));
    if (committed != record.upload_bytes) return MissingBytes(id, committed, record.upload_bytes);
    record.state = TraceState::kValidating;
    return trace_store::Update(tx, &record);
  }));
  {
    MutexLock lock(mutex_);
    queue_.push_back(id);
  }
  changed_.NotifyAll();
  return absl::OkStatus();
}

void TraceManagerImpl::ForgetFinalize(const std::string& id, uint64_t ticket) {
  FinalizeCallback dropped;  // destroyed outside the lock
  MutexLock lock(mutex_);
  const auto it = uploads_.find(id);
  if (it == uploads_.end()) return;
  const auto waiter = it->second.waiters.find(ticket);
  if (waiter == it->second.waiters.end()) return;
  dropped = std::move(waiter->second);
  it->second.waiters.erase(waiter);
}

void TraceManagerImpl::Answer(Waiters waiters, const absl::StatusOr<TraceRecord>& result) {
  for (auto& [ticket, done] : waiters) done(result);
}

void TraceManagerImpl::Work() {
  while (true) {
    std::string id;
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !stopping_) changed_.Wait(mutex_);
      if (stopping_) return;
      id = std::move(queue_.front());
      queue_.pop_front();
    }
    Process(id);
  }
}

void TraceManagerImpl::Process(const std::string& id) {
  std::shared_ptr<UploadFile> file;
  std::shared_ptr<IngestCancel> cancel;
  {
    MutexLock lock(mutex_);
    Upload& upload = uploads_.at(id);
    file = upload.file;
    cancel = upload.cancel;
  }
  absl::StatusOr<TraceRecord> result = Get(id);  // NOT_FOUND: aborted while it was queued
  End end = End::kClosed;
  if (result.ok()) {
    const TraceRecord record = *std::move(result);
    result = Conclude(record, Ingest(record, file->path(), *cancel), &end);
  }
  Settle(id, *file, end, std::move(result));
}

void TraceManagerImpl::Settle(const std::string& id, UploadFile& file, End end,
                              absl::StatusOr<TraceRecord> result) {
  Waiters waiters;
  bool aborted = false;
  {
    MutexLock lock(mutex_);
    Upload& upload = uploads_.at(id);
    waiters.swap(upload.waiters);
    aborted = upload.aborted;
    if (aborted) end = End::kClosed;
    if (end == End::kClosed) {
      uploads_.erase(id);
    } else {
      upload.validating = false;
    }
  }
  if (aborted) result = absl::CancelledError("the upload was aborted");
  if (end == End::kStopped) {
    result = absl::UnavailableError("the server is shutting down; finalize again later");
  }
  if (end == End::kClosed) {
    file.Close();
    if (const absl::Status gone = deps_.files->RemoveTree(DirOf(id)); !gone.ok()) {
      Log(LogLevel::kWarn, "upload_removal_failed", {{"upload_id", id}, {"error", gone.message()}});
    }
  }
  Answer(std::move(waiters), result);
}

IngestOutcome TraceManagerImpl::Ingest(const TraceRecord& record, const std::string& path,
                                       IngestCancel& cancel) {
  const absl::Status digest = CheckDigest(record, path, cancel);
  if (!digest.ok()) {
    IngestOutcome outcome;
    outcome.error = digest;
    outcome.kind = IngestOutcome::Kind::kOurs;
    if (absl::IsCancelled(digest)) outcome.kind = IngestOutcome::Kind::kCancelled;
    if (absl::IsInvalidArgument(digest)) {
      outcome.kind = IngestOutcome::Kind::kRefused;
      observer().UploadFailed(UploadFailureKind::kBadDigest);
    }
    return outcome;
  }
  IngestOutcome outcome = runner_.Run(IngestJob{path, record.options}, cancel);
  if (outcome.kind == IngestOutcome::Kind::kRefused) {
    observer().UploadFailed(UploadFailureKind::kInvalidTrace);
    observer().TraceRefused(outcome.error);
  }
  return outcome;
}

absl::Status TraceManagerImpl::CheckDigest(const TraceRecord& record, const std::string& path,
                                           IngestCancel& cancel) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ReadableFile> file, deps_.files->OpenRead(path));
  Sha256 hash;
  for (uint64_t offset = 0; offset < file->size(); offset += kHashBytes) {
    if (cancel.cancelled()) return absl::CancelledError("stopped while hashing");
    ASSIGN_OR_RETURN(const std::string part, file->Read(offset, kHashBytes));
    hash.Update(part);
  }
  const std::string found = hash.FinishHex();
  if (file->size() == record.upload_bytes && found == record.upload_sha256) return absl::OkStatus();
  Fault fault;
  fault.file = record.display_name;
  fault.field = "sha256";
  fault.value = found;
  fault.expected = record.upload_sha256;
  fault.message = "the uploaded bytes are not those that were declared; upload the file again";
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

absl::StatusOr<TraceRecord> TraceManagerImpl::Conclude(const TraceRecord& record, IngestOutcome outcome,
                                                       End* end) {
  switch (outcome.kind) {
    case IngestOutcome::Kind::kCancelled:
      *end = End::kStopped;
      return outcome.error;
    case IngestOutcome::Kind::kRefused:
      Log(LogLevel::kInfo, "trace_refused", {{"trace_id", record.id}, {"error", outcome.error.message()}});
      StoreOutcomeState(record.id, TraceState::kInvalid, outcome.error);
      return outcome.error;
    case IngestOutcome::Kind::kReady: {
      absl::StatusOr<TraceRecord> stored = StoreReady(record, std::move(outcome));
      if (stored.ok() || absl::IsNotFound(stored.status())) return stored;
      outcome.error = stored.status();
      break;
    }
    case IngestOutcome::Kind::kOurs:
      break;
  }
  Log(LogLevel::kError, "trace_validation_failed",
      {{"trace_id", record.id}, {"error", outcome.error.message()}});
  observer().UploadFailed(UploadFailureKind::kStoreError);
  *end = End::kAgain;
  StoreOutcomeState(record.id, TraceState::kUploading, absl::OkStatus());
  return outcome.error;
}

absl::StatusOr<TraceRecord> TraceManagerImpl::StoreReady(const TraceRecord& record, IngestOutcome outcome) {
  const absl::StatusOr<BlobPin> pin = deps_.blobs->AddFile(outcome.output);
  // What stays behind is cleared at next start.
  deps_.files->RemoveTree(outcome.folder).IgnoreError();
  RETURN_IF_ERROR(pin.status());
  TraceRecord ready;
  RETURN_IF_ERROR(deps_.db->Write([&](Transaction& tx) -> absl::Status {
    ASSIGN_OR_RETURN(ready, trace_store::Get(tx, record.id));  // NOT_FOUND: aborted
    ready.state = TraceState::kReady;
    ready.content = std::move(outcome.content);
    ready.content.blob = pin->digest();
    ready.content.stored_bytes = pin->size_bytes();
    RETURN_IF_ERROR(deps_.blobs->AddRef(tx, "traces/" + record.id, *pin));
    return trace_store::Update(tx, &ready);
  }));
  Log(LogLevel::kInfo, "trace_ready",
      {{"trace_id", ready.id}, {"kernels", ready.content.kernels}, {"bytes", ready.content.stored_bytes}});
  observer().UploadStored();
  return ready;
}

void TraceManagerImpl::StoreOutcomeState(const std::string& id, TraceState state, const absl::Status& error) {
  const absl::Status stored = deps_.db->Write([&](Transaction& tx) -> absl::Status {
    ASSIGN_OR_RETURN(TraceRecord record, trace_store::Get(tx, id));
    record.state = state;
    record.error = error;
    if (state == TraceState::kUploading) record.committed_bytes = record.upload_bytes;
    return trace_store::Update(tx, &record);
  });
  if (absl::IsNotFound(stored)) return;  // aborted meanwhile
  // The row stays VALIDATING then, and is read again after the next start.
  if (!stored.ok())
    Log(LogLevel::kError, "trace_state_lost", {{"trace_id", id}, {"error", stored.message()}});
}

}  // namespace sm89
