#include "server/traces/trace_manager.h"

#include <algorithm>
#include <set>
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

// How long a request id protects against a repeat.
constexpr int64_t kRequestNanosKept = int64_t{30} * 24 * 3600 * 1'000'000'000;

absl::Status FieldError(std::string field, std::string value, std::string expected, std::string message) {
  Fault fault;
  fault.field = std::move(field);
  fault.value = std::move(value);
  fault.expected = std::move(expected);
  fault.message = std::move(message);
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

std::string BodyHash(const BeginUpload& request) {
  std::string body = absl::StrCat(request.display_name, "\n", request.size_bytes, "\n", request.sha256, "\n",
                                  request.options.foreign_arch, request.options.allow_partial,
                                  request.options.unknown_as_nop);
  // Only when set: the hashes of requests that earlier versions stored stay what they were.
  if (request.options.machine_code) absl::StrAppend(&body, "\nmachine code");
  return Sha256Hex(body);
}

std::string OwnerOf(const std::string& id) { return "traces/" + id; }

// Machine code is kept as it is: nothing in it can be conceded.
absl::Status CheckOptions(const TraceOptions& options) {
  if (!options.machine_code) return absl::OkStatus();
  for (const auto& [name, given] :
       {std::pair("foreign_arch", options.foreign_arch), std::pair("allow_partial", options.allow_partial),
        std::pair("unknown_as_nop", options.unknown_as_nop)}) {
    if (!given) continue;
    return FieldError(absl::StrCat("options.", name), "true", "false beside machine_code",
                      absl::StrCat(name, " is for traces: the upload is machine code"));
  }
  return absl::OkStatus();
}

class FileUploadStream final : public UploadStream {
 public:
  FileUploadStream(std::shared_ptr<UploadFile> file, TraceObserver* observer)
      : file_(std::move(file)), writer_(file_->TakeOver()), observer_(observer) {}

  ~FileUploadStream() override {
    // A stream that broke keeps what it brought; if the sync fails, less of it, and the next one is told.
    file_->Sync().status().IgnoreError();
  }

  absl::Status Write(uint64_t offset, std::string_view bytes, uint32_t crc32) override {
    RETURN_IF_ERROR(file_->Write(writer_, offset, bytes, crc32));
    observer_->BytesReceived(bytes.size());
    return absl::OkStatus();
  }

  absl::StatusOr<uint64_t> Finish() override { return file_->Sync(); }

 private:
  std::shared_ptr<UploadFile> file_;
  const uint64_t writer_;
  TraceObserver* observer_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TraceManager>> TraceManager::Create(const TraceDeps& deps,
                                                                   const TraceManagerOptions& options) {
  SM89_ASSERT(deps.files != nullptr && deps.clock != nullptr && deps.ids != nullptr, "deps are given");
  SM89_ASSERT(deps.processes != nullptr && deps.db != nullptr && deps.blobs != nullptr, "deps are given");
  RETURN_IF_ERROR(trace_store::Migrate(*deps.db));
  RETURN_IF_ERROR(deps.files->MakeDirs(options.uploads_dir));
  RETURN_IF_ERROR(deps.files->MakeDirs(options.scratch_dir));
  auto manager = std::make_unique<TraceManagerImpl>(deps, options);
  RETURN_IF_ERROR(manager->Recover());
  manager->StartThreads();
  return manager;
}

TraceManagerImpl::TraceManagerImpl(const TraceDeps& deps, const TraceManagerOptions& options)
    : deps_(deps),
      options_(options),
      runner_(*deps.files, *deps.clock, *deps.ids, *deps.processes,
              IngestRunnerOptions{options.worker_program, options.ptxas, options.scratch_dir,
                                  options.limits.max_unpacked_bytes, options.limits.ingest_memory_bytes,
                                  options.limits.ingest_wall_seconds, options.limits.min_free_bytes}) {}

absl::Status TraceManagerImpl::Recover() {
  std::vector<TraceRecord> open;
  RETURN_IF_ERROR(deps_.db->Read([&](Transaction& tx) -> absl::Status {
    for (const TraceState state : {TraceState::kUploading, TraceState::kValidating}) {
      ASSIGN_OR_RETURN(std::vector<TraceRecord> found, trace_store::All(tx, state));
      std::move(found.begin(), found.end(), std::back_inserter(open));
    }
    return absl::OkStatus();
  }));
  for (TraceRecord& record : open) RETURN_IF_ERROR(RecoverUpload(std::move(record)));
  RETURN_IF_ERROR(CheckReadyTraces());
  return ClearUploadsDir();
}

absl::Status TraceManagerImpl::RecoverUpload(TraceRecord record) {
  const std::string path = absl::StrCat(DirOf(record.id), "/", record.display_name);
  const uint64_t expected =
      record.state == TraceState::kValidating ? record.upload_bytes : record.committed_bytes;
  const absl::Status present = deps_.files->OpenAt(path, expected).status();
  const bool whole = present.ok();
  if (!whole) {
    Log(LogLevel::kWarn, "upload_bytes_lost", {{"upload_id", record.id}, {"error", present.message()}});
    RETURN_IF_ERROR(deps_.files->RemoveTree(DirOf(record.id)));
  }
  const bool validating = whole && record.state == TraceState::kValidating;
  record.committed_bytes = whole ? expected : 0;
  if (!validating) record.state = TraceState::kUploading;
  RETURN_IF_ERROR(deps_.db->Write([&](Transaction& tx) { return trace_store::Update(tx, &record); }));
  RETURN_IF_ERROR(AddUpload(record));
  if (!validating) return absl::OkStatus();
  MutexLock lock(mutex_);
  uploads_.at(record.id).validating = true;
  queue_.push_back(record.id);
  return absl::OkStatus();
}

absl::Status TraceManagerImpl::CheckReadyTraces() {
  std::vector<TraceRecord> ready;
  RETURN_IF_ERROR(deps_.db->Read([&](Transaction& tx) -> absl::Status {
    ASSIGN_OR_RETURN(ready, trace_store::All(tx, TraceState::kReady));
    return absl::OkStatus();
  }));
  for (TraceRecord& record : ready) {
    const absl::Status present = deps_.blobs->OpenBlob(record.content.blob).status();
    if (present.ok()) continue;
    Log(LogLevel::kError, "trace_lost", {{"trace_id", record.id}, {"error", present.message()}});
    record.state = TraceState::kInvalid;
    record.error = absl::DataLossError(absl::StrCat(present.message(), "; upload it again"));
    RETURN_IF_ERROR(deps_.db->Write([&](Transaction& tx) { return trace_store::Update(tx, &record); }));
  }
  return absl::OkStatus();
}

absl::Status TraceManagerImpl::ClearUploadsDir() {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, deps_.files->List(options_.uploads_dir));
  for (const std::string& name : names) {
    if (FindFile(name) == nullptr) RETURN_IF_ERROR(deps_.files->RemoveTree(DirOf(name)));
  }
  return absl::OkStatus();
}

absl::Status TraceManagerImpl::CheckRequest(const BeginUpload& request) const {
  if (!IsSafeFileName(request.display_name)) {
    return FieldError("display_name", "", "a plain file name of 1 to 200 bytes, such as bfs.tar.xz",
                      "the display name is not a plain file name");
  }
  if (!IsSha256Hex(request.sha256)) {
    return FieldError("sha256", "", "64 lower-case hex digits", "the SHA-256 is not one");
  }
  RETURN_IF_ERROR(CheckOptions(request.options));
  if (request.size_bytes == 0) return FieldError("size_bytes", "0", "at least 1", "the upload is empty");
  if (request.size_bytes > options_.limits.max_upload_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat("an upload of ", request.size_bytes,
                                                     " bytes is too large: at most ",
                                                     options_.limits.max_upload_bytes));
  }
  return absl::OkStatus();
}

absl::Status TraceManagerImpl::CheckRoom(Transaction& tx, const BeginUpload& request) {
  ASSIGN_OR_RETURN(const Counts present, trace_store::Count(tx));
  if (present.uploads_open >= options_.limits.max_open) {
    return absl::ResourceExhaustedError(
        absl::StrCat("there are ", present.uploads_open, " open uploads already; try again later"));
  }
  if (present.traces >= options_.limits.max_traces) {
    return absl::ResourceExhaustedError(
        absl::StrCat("there are ", present.traces, " traces already; delete some first"));
  }
  ASSIGN_OR_RETURN(const uint64_t free, deps_.files->FreeBytes(options_.uploads_dir));
  const uint64_t reserve = options_.limits.min_free_bytes;
  if (free < reserve || free - reserve < request.size_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the server's disk has no room for ", request.size_bytes, " more bytes"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<TraceRecord>> TraceManagerImpl::FindEarlier(Transaction& tx,
                                                                         const BeginUpload& request,
                                                                         const std::string& body_hash,
                                                                         bool* repeated) {
  *repeated = false;
  if (!request.request_id.empty()) {
    ASSIGN_OR_RETURN(const auto earlier, trace_store::FindRequest(tx, request.request_id));
    if (earlier.has_value()) {
      if (earlier->body_hash != body_hash) {
        return absl::AlreadyExistsError(
            absl::StrCat("request id ", request.request_id, " was used for another upload"));
      }
      absl::StatusOr<TraceRecord> record = trace_store::Get(tx, earlier->trace_id);
      *repeated = record.ok();
      if (record.ok()) return std::optional<TraceRecord>(*std::move(record));
      // Deleted since: the request begins anew.
      if (!absl::IsNotFound(record.status())) return record.status();
    }
  }
  return trace_store::FindSame(tx, request);
}

absl::StatusOr<BeginUploadAnswer> TraceManagerImpl::BeginInTransaction(Transaction& tx,
                                                                       const BeginUpload& request,
                                                                       bool* is_new) {
  const std::string body_hash = BodyHash(request);
  bool repeated = false;
  ASSIGN_OR_RETURN(std::optional<TraceRecord> record, FindEarlier(tx, request, body_hash, &repeated));
  *is_new = !record.has_value();
  if (*is_new) {
    RETURN_IF_ERROR(CheckRoom(tx, request));
    TraceRecord fresh;
    fresh.id = deps_.ids->NewId();
    fresh.display_name = request.display_name;
    fresh.upload_sha256 = request.sha256;
    fresh.upload_bytes = request.size_bytes;
    fresh.options = request.options;
    fresh.create_unix_nanos = deps_.clock->WallUnixNanos();
    RETURN_IF_ERROR(trace_store::Insert(tx, &fresh));
    record = std::move(fresh);
  }
  if (!repeated && !request.request_id.empty()) {
    RETURN_IF_ERROR(trace_store::PutRequest(tx, request.request_id, {body_hash, record->id},
                                            deps_.clock->WallUnixNanos()));
  }
  BeginUploadAnswer answer;
  if (record->state == TraceState::kReady || record->state == TraceState::kInvalid) {
    answer.existing = std::move(record);
  } else {
    answer.upload_id = record->id;
    answer.committed_bytes =
        record->state == TraceState::kValidating ? record->upload_bytes : record->committed_bytes;
  }
  return answer;
}

absl::StatusOr<BeginUploadAnswer> TraceManagerImpl::Begin(const BeginUpload& request) {
  const absl::Status checked = CheckRequest(request);
  if (absl::IsResourceExhausted(checked)) observer().UploadFailed(UploadFailureKind::kTooLarge);
  RETURN_IF_ERROR(checked);
  BeginUploadAnswer answer;
  bool is_new = false;
  TraceRecord record;
  const absl::Status stored = deps_.db->Write([&](Transaction& tx) -> absl::Status {
    ASSIGN_OR_RETURN(answer, BeginInTransaction(tx, request, &is_new));
    if (!is_new) return absl::OkStatus();
    ASSIGN_OR_RETURN(record, trace_store::Get(tx, answer.upload_id));
    return absl::OkStatus();
  });
  if (absl::IsResourceExhausted(stored)) observer().UploadFailed(UploadFailureKind::kTooLarge);
  RETURN_IF_ERROR(stored);
  if (answer.existing.has_value()) {
    observer().UploadDeduplicated();
    return answer;
  }
  if (!is_new) {
    if (const auto file = FindFile(answer.upload_id); file != nullptr) {
      answer.committed_bytes = file->committed_bytes();
    }
    return answer;
  }
  if (const absl::Status made = AddUpload(record); !made.ok()) {
    observer().UploadFailed(UploadFailureKind::kStoreError);
    // The first error is the answer; a row that stays is swept like any abandoned upload.
    Abort(record.id).IgnoreError();
    return made;
  }
  observer().UploadStarted();
  Log(LogLevel::kInfo, "upload_begun",
      {{"upload_id", record.id}, {"display_name", record.display_name}, {"bytes", record.upload_bytes}});
  return answer;
}

absl::Status TraceManagerImpl::AddUpload(const TraceRecord& record) {
  const std::string id = record.id;
  UploadFileOptions options;
  options.path = absl::StrCat(DirOf(id), "/", record.display_name);
  options.size_bytes = record.upload_bytes;
  options.committed_bytes = record.committed_bytes;
  options.max_chunk_bytes = options_.limits.max_chunk_bytes;
  options.min_free_bytes = options_.limits.min_free_bytes;
  options.on_synced = [this, id](uint64_t synced_bytes) {
    return deps_.db->Write([&](Transaction& tx) -> absl::Status {
      ASSIGN_OR_RETURN(TraceRecord row, trace_store::Get(tx, id));
      row.committed_bytes = synced_bytes;
      return trace_store::Update(tx, &row);
    });
  };
  auto file = std::make_shared<UploadFile>(*deps_.files, *deps_.clock, std::move(options));
  const std::string path = file->path();
  {
    MutexLock lock(mutex_);
    uploads_[id].file = std::move(file);
  }
  if (record.committed_bytes > 0) return absl::OkStatus();
  RETURN_IF_ERROR(deps_.files->RemoveTree(DirOf(id)));
  RETURN_IF_ERROR(deps_.files->MakeDirs(DirOf(id)));
  RETURN_IF_ERROR(deps_.files->Create(path).status());
  RETURN_IF_ERROR(deps_.files->SyncDir(DirOf(id)));
  return deps_.files->SyncDir(options_.uploads_dir);
}

std::shared_ptr<UploadFile> TraceManagerImpl::FindFile(const std::string& id) {
  MutexLock lock(mutex_);
  const auto it = uploads_.find(id);
  return it != uploads_.end() ? it->second.file : nullptr;
}

absl::StatusOr<std::unique_ptr<UploadStream>> TraceManagerImpl::OpenStream(const std::string& id) {
  if (const std::shared_ptr<UploadFile> file = FindFile(id); file != nullptr) {
    return std::make_unique<FileUploadStream>(file, &observer());
  }
  ASSIGN_OR_RETURN(const TraceRecord record, Get(id));
  return absl::FailedPreconditionError(
      absl::StrCat("the upload has ended: traces/", id, " is ", Av(Name(record.state))));
}

void TraceManagerImpl::Overlay(TraceRecord* record) {
  if (record->state == TraceState::kValidating) record->committed_bytes = record->upload_bytes;
  if (record->state != TraceState::kUploading) return;
  if (const auto file = FindFile(record->id); file != nullptr)
    record->committed_bytes = file->committed_bytes();
}

absl::StatusOr<TraceRecord> TraceManagerImpl::Get(const std::string& id) {
  TraceRecord record;
  RETURN_IF_ERROR(deps_.db->Read([&](Transaction& tx) -> absl::Status {
    ASSIGN_OR_RETURN(record, trace_store::Get(tx, id));
    return absl::OkStatus();
  }));
  Overlay(&record);
  return record;
}

absl::StatusOr<TracePage> TraceManagerImpl::List(const TraceFilter& filter, int64_t before,
                                                 uint32_t page_size) {
  TracePage page;
  RETURN_IF_ERROR(deps_.db->Read([&](Transaction& tx) -> absl::Status {
    ASSIGN_OR_RETURN(page, trace_store::List(tx, filter, before, page_size));
    return absl::OkStatus();
  }));
  for (TraceRecord& record : page.traces) Overlay(&record);
  return page;
}

absl::StatusOr<TraceRecord> TraceManagerImpl::RequireReady(Transaction& tx, const std::string& id) {
  ASSIGN_OR_RETURN(TraceRecord record, trace_store::Get(tx, id));
  if (record.state == TraceState::kReady) return record;
  return absl::FailedPreconditionError(
      absl::StrCat("trace traces/", id, " is ", Av(Name(record.state)), ", not READY"));
}

absl::Status TraceManagerImpl::Abort(const std::string& id) {
  std::shared_ptr<UploadFile> file;
  std::shared_ptr<IngestCancel> cancel;
  {
    MutexLock lock(mutex_);
    const auto it = uploads_.find(id);
    if (it != uploads_.end()) {
      file = it->second.file;
      it->second.aborted = true;
      // One that is being read stays until its reader has ended.
      if (it->second.validating) {
        cancel = it->second.cancel;
      } else {
        uploads_.erase(it);
      }
    }
  }
  if (file == nullptr) {
    ASSIGN_OR_RETURN(const TraceRecord record, Get(id));
    return absl::FailedPreconditionError(
        absl::StrCat("there is no open upload: traces/", id, " is ", Av(Name(record.state))));
  }
  file->Close();
  if (cancel != nullptr) cancel->Cancel();
  // It may have become READY at this very moment.
  std::vector<std::string> dropped;
  RETURN_IF_ERROR(deps_.db->Write([&](Transaction& tx) -> absl::Status {
    RETURN_IF_ERROR(deps_.blobs->DropRefs(tx, OwnerOf(id), &dropped));
    return trace_store::Delete(tx, id);
  }));
  deps_.blobs->RemoveUnreferenced(dropped);
  Log(LogLevel::kInfo, "upload_aborted", {{"upload_id", id}});
  observer().UploadFailed(UploadFailureKind::kAbandoned);
  return cancel != nullptr ? absl::OkStatus() : deps_.files->RemoveTree(DirOf(id));
}

absl::Status TraceManagerImpl::Delete(const std::string& id, const std::string& etag) {
  bool open = false;
  std::vector<std::string> dropped;
  RETURN_IF_ERROR(deps_.db->Write([&](Transaction& tx) -> absl::Status {
    ASSIGN_OR_RETURN(const TraceRecord record, trace_store::Get(tx, id));
    if (!etag.empty() && etag != record.etag()) {
      return absl::AbortedError(absl::StrCat("traces/", id, " has changed: its etag is ", record.etag()));
    }
    open = record.state == TraceState::kUploading || record.state == TraceState::kValidating;
    if (open) return absl::OkStatus();
    if (in_use_) {
      ASSIGN_OR_RETURN(const bool used, in_use_(tx, id));
      if (used) {
        return absl::FailedPreconditionError(absl::StrCat("a job that has not ended uses traces/", id));
      }
    }
    RETURN_IF_ERROR(deps_.blobs->DropRefs(tx, OwnerOf(id), &dropped));
    return trace_store::Delete(tx, id);
  }));
  if (open) return Abort(id);
  deps_.blobs->RemoveUnreferenced(dropped);
  Log(LogLevel::kInfo, "trace_deleted", {{"trace_id", id}});
  return absl::OkStatus();
}

void TraceManagerImpl::Sweep() {
  const SteadyTime now = deps_.clock->SteadyNow();
  const Duration expiry = std::chrono::seconds(options_.limits.expiry_seconds);
  std::vector<std::pair<std::string, std::shared_ptr<UploadFile>>> idle;
  {
    MutexLock lock(mutex_);
    for (const auto& [id, upload] : uploads_) {
      if (!upload.validating) idle.emplace_back(id, upload.file);
    }
  }
  for (const auto& [id, file] : idle) {
    if (now - file->last_activity() < expiry) continue;
    Log(LogLevel::kInfo, "upload_expired", {{"upload_id", id}});
    if (const absl::Status gone = Abort(id); !gone.ok()) {
      Log(LogLevel::kWarn, "upload_sweep_failed", {{"upload_id", id}, {"error", gone.message()}});
    }
  }
  const int64_t oldest = deps_.clock->WallUnixNanos() - kRequestNanosKept;
  const absl::Status dropped =
      deps_.db->Write([&](Transaction& tx) { return trace_store::DropRequestsBefore(tx, oldest); });
  if (!dropped.ok()) Log(LogLevel::kWarn, "request_sweep_failed", {{"error", dropped.message()}});
}

TraceManager::Counts TraceManagerImpl::counts() {
  Counts result;
  const absl::Status read = deps_.db->Read([&](Transaction& tx) -> absl::Status {
    ASSIGN_OR_RETURN(result, trace_store::Count(tx));
    return absl::OkStatus();
  });
  if (!read.ok()) Log(LogLevel::kWarn, "trace_count_failed", {{"error", read.message()}});
  return result;
}

}  // namespace sm89
