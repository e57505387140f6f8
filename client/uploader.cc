#include "client/uploader.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "client/backoff.h"
#include "client/checksum.h"
#include "client/error.h"
#include "client/macros.h"
#include "client/upload_journal.h"

namespace sm89::client {
namespace {

constexpr uint64_t kChunkBytesMax = 1 << 20;  // well under the 4 MiB message limit of the server
constexpr double kFinalizeCallSeconds = 60;   // one call holds so long; then it is asked again
constexpr double kValidatingPollSeconds = 0.5;
constexpr int kRestartsMax = 2;  // a forgotten upload session is begun anew so often

class Uploader {
 public:
  Uploader(Client& client, const LocalFile& file, const UploadSettings& settings)
      : client_(client),
        file_(file),
        settings_(settings),
        journal_(settings.journal_directory),
        stop_(client.options().stop),
        backoff_(client.options().reconnect_seconds) {}

  absl::StatusOr<UploadOutcome> Run() {
    const auto on_hash = [this](uint64_t done) {
      Report(UploadProgress::Stage::kHashing, done);
      return !stop_.stop_requested();
    };
    CLIENT_ASSIGN_OR_RETURN(sha256_, file_.Digest(on_hash));
    key_ = absl::StrCat(client_.options().address, "\n", sha256_, "\n", file_.display_name(), "\n",
                        settings_.options.SerializeAsString());
    absl::Status status;
    for (int restart = 0; restart <= kRestartsMax; ++restart) {
      status = BeginSendFinalize();
      if (status.ok()) {
        journal_.Forget(key_);
        return outcome_;
      }
      if (stop_.stop_requested()) return absl::CancelledError("interrupted");
      if (CanGoOnLater(status)) return status;
      journal_.Forget(key_);
      if (!session_lost_) return status;
    }
    return status;
  }

 private:
  void Report(UploadProgress::Stage stage, uint64_t done) const {
    if (settings_.on_progress) settings_.on_progress({stage, done, file_.size_bytes()});
  }

  absl::Status BeginSendFinalize() {
    session_lost_ = false;
    begin_.set_request_id(journal_.RequestIdFor(key_));
    begin_.set_display_name(file_.display_name());
    begin_.set_size_bytes(file_.size_bytes());
    begin_.set_sha256(sha256_);
    *begin_.mutable_options() = settings_.options;
    CLIENT_ASSIGN_OR_RETURN(const v1::BeginUploadResponse begun, client_.BeginUpload(begin_));
    if (begun.has_existing()) {
      outcome_.known_already = outcome_.sent_bytes == 0;
      return AwaitReady(begun.existing());
    }
    upload_ = begun.upload();
    chunk_bytes_ = begun.max_chunk_bytes() > 0 ? std::min<uint64_t>(begun.max_chunk_bytes(), kChunkBytesMax)
                                               : kChunkBytesMax;
    committed_ = begun.committed_bytes();
    if (outcome_.sent_bytes == 0) outcome_.resumed_from = committed_;
    CLIENT_RETURN_IF_ERROR(NoteLostSession(SendAll()));
    return NoteLostSession(Finalize());
  }

  // NOT_FOUND of the session (not of files that the trace's list names) means that the server has forgotten
  // it: expired, or its answer to our request id is an old one.
  absl::Status NoteLostSession(absl::Status status) {
    session_lost_ = absl::IsNotFound(status) && !IsAboutFiles(status);
    return status;
  }

  // The error of a refused trace with all its faults: the RPC's own may have been cut.
  absl::Status InFull(const absl::Status& status) {
    const std::optional<v1::ErrorDetail> detail = DetailOf(status);
    if (!detail.has_value() || FaultsTotal(*detail) == static_cast<uint64_t>(detail->faults_size()))
      return status;
    const absl::StatusOr<v1::BeginUploadResponse> again = client_.BeginUpload(begin_);
    if (!again.ok() || again->existing().state() != v1::Trace::INVALID) return status;
    return WithDetail(status, again->existing().error());
  }

  absl::Status SendAll() {
    while (true) {
      Report(UploadProgress::Stage::kSending, committed_);
      const uint64_t before = committed_;
      absl::Status status = SendFrom(committed_);
      if (status.ok()) return status;
      if (stop_.stop_requested()) return absl::CancelledError("interrupted");
      if (!IsWorthResuming(status)) return status;
      CLIENT_RETURN_IF_ERROR(AskCommitted(before, status));
      if (complete_) return absl::OkStatus();
    }
  }

  // The next run of the program resumes: the session is kept in the journal.
  static bool CanGoOnLater(const absl::Status& status) {
    return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
           absl::IsResourceExhausted(status);
  }

  // ABORTED: another stream holds the session (ours from before the break, most likely). OUT_OF_RANGE: our
  // idea of the offset is old. DATA_LOSS: a chunk was damaged on the way.
  static bool IsWorthResuming(const absl::Status& status) {
    return absl::IsUnavailable(status) || absl::IsAborted(status) || absl::IsOutOfRange(status) ||
           absl::IsDataLoss(status);
  }

  // After a break: waits, then learns how far the server got.
  absl::Status AskCommitted(uint64_t before, const absl::Status& broken) {
    absl::Status status = broken;
    while (true) {
      if (settings_.on_retry) settings_.on_retry(status, committed_);
      if (!backoff_.Wait(stop_, RetryAfterSeconds(status))) return broken;
      v1::QueryWriteStatusRequest query;
      query.set_upload(upload_);
      const absl::StatusOr<v1::QueryWriteStatusResponse> answer = client_.QueryWriteStatus(query);
      if (answer.ok()) {
        committed_ = answer->committed_bytes();
        complete_ = answer->complete();
        if (committed_ > before) backoff_.Reset();
        return absl::OkStatus();
      }
      status = answer.status();
      if (!absl::IsUnavailable(status)) return status;
    }
  }

  absl::Status SendFrom(uint64_t offset) {
    const std::unique_ptr<WriteStream> stream = client_.OpenWrite();
    v1::WriteUploadRequest request;
    request.set_upload(upload_);
    const uint64_t size = file_.size_bytes();
    bool last = false;
    while (!last) {
      const auto bytes = static_cast<size_t>(std::min(chunk_bytes_, size - offset));
      CLIENT_ASSIGN_OR_RETURN(*request.mutable_data(), file_.Read(offset, bytes));
      last = offset + bytes == size;
      request.set_offset(offset);
      request.set_crc32(Crc32(request.data().data(), request.data().size()));
      request.set_finish(last);
      if (!stream->Write(request)) break;
      request.clear_upload();  // the first message names it
      offset += bytes;
      outcome_.sent_bytes += bytes;
      Report(UploadProgress::Stage::kSending, offset);
    }
    CLIENT_ASSIGN_OR_RETURN(const v1::WriteUploadResponse response, stream->Finish());
    committed_ = response.committed_bytes();
    if (committed_ == size) return absl::OkStatus();
    return absl::OutOfRangeError(absl::StrCat("the server has ", committed_, " of ", size, " bytes"));
  }

  absl::Status Finalize() {
    v1::FinalizeUploadRequest request;
    request.set_upload(upload_);
    while (true) {
      Report(UploadProgress::Stage::kValidating, file_.size_bytes());
      absl::StatusOr<v1::Trace> trace = client_.FinalizeUpload(request, kFinalizeCallSeconds);
      if (trace.ok()) return AwaitReady(*std::move(trace));
      if (stop_.stop_requested()) return absl::CancelledError("interrupted");
      if (absl::IsDeadlineExceeded(trace.status())) continue;  // still validating
      if (!absl::IsUnavailable(trace.status())) return InFull(trace.status());
      if (settings_.on_retry) settings_.on_retry(trace.status(), committed_);
      if (!backoff_.Wait(stop_)) return trace.status();
    }
  }

  absl::Status AwaitReady(v1::Trace trace) {
    while (true) {
      if (trace.state() == v1::Trace::READY) {
        outcome_.trace = std::move(trace);
        return absl::OkStatus();
      }
      if (trace.state() == v1::Trace::INVALID) {
        return FromRecordedError("INVALID_ARGUMENT", trace.error_message(), trace.error());
      }
      Report(UploadProgress::Stage::kValidating, file_.size_bytes());
      if (!SleepUnlessStopped(kValidatingPollSeconds, stop_)) return absl::CancelledError("interrupted");
      v1::GetTraceRequest request;
      request.set_name(trace.name());
      CLIENT_ASSIGN_OR_RETURN(trace, client_.GetTrace(request));
    }
  }

  Client& client_;
  const LocalFile& file_;
  const UploadSettings& settings_;
  UploadJournal journal_;
  std::stop_token stop_;
  Backoff backoff_;
  std::string sha256_;
  std::string key_;
  v1::BeginUploadRequest begin_;
  std::string upload_;
  uint64_t chunk_bytes_ = kChunkBytesMax;
  uint64_t committed_ = 0;
  bool complete_ = false;
  bool session_lost_ = false;
  UploadOutcome outcome_;
};

}  // namespace

absl::StatusOr<UploadOutcome> Upload(Client& client, const LocalFile& file, const UploadSettings& settings) {
  return Uploader(client, file, settings).Run();
}

}  // namespace sm89::client
