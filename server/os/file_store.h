// The only road to files. An interface, so that tests inject full disks and I/O errors.
//
// Errors: see errno_status.h; a full disk is RESOURCE_EXHAUSTED. Paths are the caller's; names that came
// from a user never become paths unless IsSafeFileName accepted them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sm89 {

// Closed by the destructor. Not thread-safe.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  // All or an error; after an error the file's length is unknown until it is opened again.
  virtual absl::Status Append(std::string_view bytes) = 0;
  // On disk when this returns OK.
  virtual absl::Status Sync() = 0;
};

class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  virtual uint64_t size() const = 0;
  // Up to `max_bytes` from `offset`; fewer only at the end of the file; empty past it. Thread-safe.
  virtual absl::StatusOr<std::string> Read(uint64_t offset, uint64_t max_bytes) const = 0;
};

// Thread-safe.
class FileStore {
 public:
  virtual ~FileStore() = default;

  // A new file (ALREADY_EXISTS otherwise), mode 0600.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> Create(const std::string& path) = 0;
  // An existing file cut to `length` bytes, writing from there on. DATA_LOSS when it is shorter.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> OpenAt(const std::string& path, uint64_t length) = 0;
  virtual absl::StatusOr<std::unique_ptr<ReadableFile>> OpenRead(const std::string& path) = 0;
  virtual absl::StatusOr<uint64_t> Size(const std::string& path) = 0;
  // Replaces `to`. Durable only after SyncDir of both folders.
  virtual absl::Status Rename(const std::string& from, const std::string& to) = 0;
  virtual absl::Status SyncDir(const std::string& dir) = 0;
  // OK when absent.
  virtual absl::Status Remove(const std::string& path) = 0;
  // A folder and all in it; does not follow links; OK when absent.
  virtual absl::Status RemoveTree(const std::string& path) = 0;
  // With parents, mode 0700; OK when it is there.
  virtual absl::Status MakeDirs(const std::string& path) = 0;
  // Plain names, sorted.
  virtual absl::StatusOr<std::vector<std::string>> List(const std::string& dir) = 0;
  // Bytes that an unprivileged writer may still use.
  virtual absl::StatusOr<uint64_t> FreeBytes(const std::string& dir) = 0;
};

// Real files. Lives for ever.
FileStore& PosixFileStore();

// Temporary file beside `path`, fsync, rename, fsync of the folder: after a crash `path` holds either the
// old or the new bytes.
absl::Status AtomicWriteFile(FileStore& files, const std::string& path, std::string_view bytes);

// At most `max_bytes` (RESOURCE_EXHAUSTED when the file is larger).
absl::StatusOr<std::string> ReadWholeFile(FileStore& files, const std::string& path, uint64_t max_bytes);

// True for a name that stays inside its folder on any file system: 1..200 bytes of valid UTF-8, no '/',
// '\\' or control character, not starting with '.' or '-', not ending with '.' or ' '.
bool IsSafeFileName(std::string_view name);

bool IsValidUtf8(std::string_view text);

}  // namespace sm89
