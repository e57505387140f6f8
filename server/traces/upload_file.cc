#include "server/traces/upload_file.h"

#include <zlib.h>

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

// What a power failure may cost of an upload; small enough to be cheap to send again, large enough that
// fsync does not set the pace.
constexpr uint64_t kSyncEveryBytes = 16 << 20;

absl::Status OffsetError(uint64_t offset, uint64_t committed) {
  Fault fault;
  fault.field = "offset";
  fault.value = absl::StrCat(offset);
  fault.expected = absl::StrCat(committed);
  fault.message = absl::StrCat("the upload goes on at byte ", committed);
  fault.facts = {{"committed_bytes", absl::StrCat(committed)}};
  return InputError(absl::StatusCode::kOutOfRange, fault);
}

}  // namespace

UploadFile::UploadFile(FileStore& files, const Clock& clock, UploadFileOptions options)
    : files_(files),
      clock_(clock),
      options_(std::move(options)),
      committed_(options_.committed_bytes),
      synced_(options_.committed_bytes),
      last_activity_(clock.SteadyNow()) {}

uint64_t UploadFile::TakeOver() {
  MutexLock lock(mutex_);
  last_activity_ = clock_.SteadyNow();
  return ++writer_;
}

absl::Status UploadFile::CheckChunk(uint64_t offset, std::string_view bytes, uint32_t crc32_given) {
  if (bytes.size() > options_.max_chunk_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a chunk of ", bytes.size(), " bytes is too long: at most ", options_.max_chunk_bytes));
  }
  if (offset != committed_) return OffsetError(offset, committed_);
  if (bytes.size() > options_.size_bytes - committed_) {
    return absl::OutOfRangeError(absl::StrCat("the upload was declared with ", options_.size_bytes,
                                              " bytes; this chunk would make it ",
                                              committed_ + bytes.size()));
  }
  const uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  if (crc != crc32_given) {
    return absl::DataLossError(absl::StrCat("the chunk at offset ", offset,
                                            " was damaged on its way: CRC-32 is ", crc, ", sent as ",
                                            crc32_given));
  }
  return absl::OkStatus();
}

absl::Status UploadFile::OpenForWriting() {
  if (file_ != nullptr) return absl::OkStatus();
  // Drops what a failed write may have left past the committed bytes.
  ASSIGN_OR_RETURN(file_, files_.OpenAt(options_.path, committed_));
  return absl::OkStatus();
}

absl::Status UploadFile::Write(uint64_t writer, uint64_t offset, std::string_view bytes,
                               uint32_t crc32_given) {
  MutexLock lock(mutex_);
  if (closed_) return absl::AbortedError("the upload has ended");
  if (writer != writer_) return absl::AbortedError("another stream goes on with this upload");
  last_activity_ = clock_.SteadyNow();
  const absl::Status checked = CheckChunk(offset, bytes, crc32_given);
  if (!checked.ok() || bytes.empty()) return checked;
  RETURN_IF_ERROR(OpenForWriting());
  if (const absl::Status written = file_->Append(bytes); !written.ok()) {
    file_.reset();
    return written;
  }
  committed_ += bytes.size();
  if (committed_ - synced_ < kSyncEveryBytes) return absl::OkStatus();
  return SyncLocked();
}

absl::Status UploadFile::SyncLocked() {
  if (committed_ == synced_) return absl::OkStatus();
  RETURN_IF_ERROR(OpenForWriting());
  if (const absl::Status synced = file_->Sync(); !synced.ok()) {
    // After a failed fsync the kernel may have dropped the pages: what was not synced must come again.
    file_.reset();
    committed_ = synced_;
    return synced;
  }
  RETURN_IF_ERROR(options_.on_synced(committed_));
  synced_ = committed_;
  const std::string folder = std::filesystem::path(options_.path).parent_path().string();
  const absl::StatusOr<uint64_t> free = files_.FreeBytes(folder);
  if (committed_ < options_.size_bytes && free.ok() && *free < options_.min_free_bytes) {
    return absl::ResourceExhaustedError("the server's disk is full; go on with the upload later");
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> UploadFile::Sync() {
  MutexLock lock(mutex_);
  if (closed_) return absl::AbortedError("the upload has ended");
  RETURN_IF_ERROR(SyncLocked());
  return committed_;
}

void UploadFile::Close() {
  MutexLock lock(mutex_);
  closed_ = true;
  file_.reset();
}

uint64_t UploadFile::committed_bytes() {
  MutexLock lock(mutex_);
  return committed_;
}

SteadyTime UploadFile::last_activity() {
  MutexLock lock(mutex_);
  return last_activity_;
}

}  // namespace sm89
