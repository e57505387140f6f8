// The bytes of one upload on disk: appended in order, checked, synced now and then. Private to server/traces.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/os/clock.h"
#include "server/os/file_store.h"
#include "server/os/mutex.h"

namespace sm89 {

struct UploadFileOptions {
  std::string path;
  uint64_t size_bytes = 0;       // declared
  uint64_t committed_bytes = 0;  // where to go on
  uint64_t max_chunk_bytes = 0;
  uint64_t min_free_bytes = 0;
  // Called with how much is safely on disk, under the file's lock.
  std::function<absl::Status(uint64_t synced_bytes)> on_synced;
};

// Thread-safe.
class UploadFile {
 public:
  UploadFile(FileStore& files, const Clock& clock, UploadFileOptions options);

  // A new writer; the one before it gets ABORTED from now on.
  uint64_t TakeOver();
  absl::Status Write(uint64_t writer, uint64_t offset, std::string_view bytes, uint32_t crc32);
  // Gives the committed bytes, all of them on disk.
  absl::StatusOr<uint64_t> Sync();
  // Refuses every writer from now on.
  void Close();

  const std::string& path() const { return options_.path; }
  uint64_t committed_bytes();
  SteadyTime last_activity();

 private:
  absl::Status CheckChunk(uint64_t offset, std::string_view bytes, uint32_t crc32) SM89_REQUIRES(mutex_);
  absl::Status OpenForWriting() SM89_REQUIRES(mutex_);
  absl::Status SyncLocked() SM89_REQUIRES(mutex_);

  FileStore& files_;
  const Clock& clock_;
  const UploadFileOptions options_;
  Mutex mutex_;
  std::unique_ptr<WritableFile> file_ SM89_GUARDED_BY(mutex_);  // null = open again at committed_
  uint64_t committed_ SM89_GUARDED_BY(mutex_);
  uint64_t synced_ SM89_GUARDED_BY(mutex_);
  uint64_t writer_ SM89_GUARDED_BY(mutex_) = 0;
  bool closed_ SM89_GUARDED_BY(mutex_) = false;
  SteadyTime last_activity_ SM89_GUARDED_BY(mutex_);
};

}  // namespace sm89
