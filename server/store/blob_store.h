// Large immutable content on disk, named by its SHA-256: compact traces, result artifacts.
//
// A blob is visible only when it is whole: written beside, fsynced, checked, renamed. What keeps a blob is a
// row in blob_refs (owner, digest); without one it is removed. Between Add and the commit of the row a
// BlobPin keeps it; if no row has come when the last pin goes, so does the blob:
//
//   ASSIGN_OR_RETURN(BlobPin pin, blobs.AddBytes(text));
//   RETURN_IF_ERROR(db.Write([&](Transaction& tx) { return blobs.AddRef(tx, "jobs/x", pin); }));
//
//   std::vector<std::string> dropped;
//   RETURN_IF_ERROR(db.Write([&](Transaction& tx) { return blobs.DropRefs(tx, "jobs/x", &dropped); }));
//   blobs.RemoveUnreferenced(dropped);
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/os/file_store.h"
#include "server/os/id_source.h"
#include "server/os/mutex.h"
#include "server/store/database.h"

namespace sm89 {

class BlobStore;

// Keeps one blob from being removed while it lives. Movable. Must not outlive the store, and must not be made
// or destroyed inside a Database body (the store asks the database while it holds its own lock).
class BlobPin {
 public:
  BlobPin() = default;
  BlobPin(BlobPin&& other) noexcept;
  BlobPin& operator=(BlobPin&& other) noexcept;
  ~BlobPin();

  const std::string& digest() const { return digest_; }
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  friend class BlobStore;
  BlobPin(BlobStore* store, std::string digest, uint64_t size_bytes)
      : store_(store), digest_(std::move(digest)), size_bytes_(size_bytes) {}
  void Release();

  BlobStore* store_ = nullptr;
  std::string digest_;
  uint64_t size_bytes_ = 0;
};

// A blob being written. Abandoned (nothing left behind) unless Commit gave OK. Not thread-safe.
class BlobWriter {
 public:
  virtual ~BlobWriter() = default;
  virtual absl::Status Append(std::string_view bytes) = 0;
  virtual uint64_t size_bytes() const = 0;
  // `expected_sha256` empty = whatever it is; a mismatch is INVALID_ARGUMENT and stores nothing.
  virtual absl::StatusOr<BlobPin> Commit(std::string_view expected_sha256) = 0;
};

// Thread-safe. A full disk is RESOURCE_EXHAUSTED everywhere.
class BlobStore {
 public:
  // `root` is a folder of the store's own. Clears leftovers of a crash: temporary files, and blobs without a
  // reference.
  static absl::StatusOr<std::unique_ptr<BlobStore>> Open(FileStore& files, IdSource& ids, Database& db,
                                                         const std::string& root);

  absl::StatusOr<std::unique_ptr<BlobWriter>> NewBlob();
  absl::StatusOr<BlobPin> AddBytes(std::string_view bytes);
  // Takes a finished file over (it is moved; same file system), after hashing and syncing it.
  absl::StatusOr<BlobPin> AddFile(const std::string& path);

  // DATA_LOSS when a blob that is referred to is not there or has another size than its reference says.
  absl::StatusOr<std::unique_ptr<ReadableFile>> OpenBlob(const std::string& digest);
  absl::StatusOr<std::string> ReadBlob(const std::string& digest, uint64_t max_bytes);
  // Reads it all and compares the hash: DATA_LOSS when it differs.
  absl::Status Verify(const std::string& digest);
  // For processes on this machine that read the blob themselves.
  std::string PathOf(const std::string& digest) const;

  absl::Status AddRef(Transaction& tx, std::string_view owner, const BlobPin& pin);
  // Removes all of the owner's rows and names their blobs; call RemoveUnreferenced after the commit.
  absl::Status DropRefs(Transaction& tx, std::string_view owner, std::vector<std::string>* dropped);
  // Deletes those that no row and no pin keeps. Errors are not the caller's: what stays is cleared at next
  // start.
  void RemoveUnreferenced(std::span<const std::string> digests);

  uint64_t total_bytes() const;
  // On the disk, for unprivileged writers.
  absl::StatusOr<uint64_t> FreeBytes() { return files_.FreeBytes(root_); }

 private:
  friend class BlobPin;
  friend class FileBlobWriter;

  BlobStore(FileStore& files, IdSource& ids, Database& db, std::string root)
      : files_(files), ids_(ids), db_(db), root_(std::move(root)) {}
  absl::Status ClearLeftovers();
  std::string TemporaryPath();
  // Makes the finished, synced temporary file visible.
  absl::StatusOr<BlobPin> Publish(const std::string& temporary, const std::string& digest,
                                  uint64_t size_bytes);
  absl::StatusOr<bool> IsReferenced(const std::string& digest);
  void Unpin(const std::string& digest);
  void RemoveIfUnreferenced(const std::string& digest) SM89_REQUIRES(mutex_);

  FileStore& files_;
  IdSource& ids_;
  Database& db_;
  const std::string root_;
  mutable Mutex mutex_;
  std::map<std::string, int> pins_ SM89_GUARDED_BY(mutex_);
  uint64_t total_bytes_ SM89_GUARDED_BY(mutex_) = 0;
};

// 64 lower-case hex digits.
bool IsSha256Hex(std::string_view text);

}  // namespace sm89
