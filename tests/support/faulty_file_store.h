// Real files with errors where the test wants them: a full disk, a failing fsync. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/os/file_store.h"
#include "sim/base/status_macros.h"

namespace sm89::testing {

class FaultyFileStore final : public FileStore {
 public:
  explicit FaultyFileStore(FileStore& real) : real_(real) {}

  // Appends work until this many more bytes were written, then give RESOURCE_EXHAUSTED.
  void SetBytesLeft(int64_t bytes) { bytes_left_ = bytes; }
  void FailSyncs(bool on) { fail_syncs_ = on; }
  void FailRenames(bool on) { fail_renames_ = on; }
  void SetFreeBytes(int64_t bytes) { free_bytes_ = bytes; }

  absl::StatusOr<std::unique_ptr<WritableFile>> Create(const std::string& path) override {
    ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, real_.Create(path));
    return std::make_unique<File>(this, std::move(file));
  }
  absl::StatusOr<std::unique_ptr<WritableFile>> OpenAt(const std::string& path, uint64_t length) override {
    ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, real_.OpenAt(path, length));
    return std::make_unique<File>(this, std::move(file));
  }
  absl::StatusOr<std::unique_ptr<ReadableFile>> OpenRead(const std::string& path) override {
    return real_.OpenRead(path);
  }
  absl::StatusOr<uint64_t> Size(const std::string& path) override { return real_.Size(path); }
  absl::Status Rename(const std::string& from, const std::string& to) override {
    if (fail_renames_) return absl::InternalError("injected rename error");
    return real_.Rename(from, to);
  }
  absl::Status SyncDir(const std::string& dir) override { return real_.SyncDir(dir); }
  absl::Status Remove(const std::string& path) override { return real_.Remove(path); }
  absl::Status RemoveTree(const std::string& path) override { return real_.RemoveTree(path); }
  absl::Status MakeDirs(const std::string& path) override { return real_.MakeDirs(path); }
  absl::StatusOr<std::vector<std::string>> List(const std::string& dir) override { return real_.List(dir); }
  absl::StatusOr<uint64_t> FreeBytes(const std::string& dir) override {
    const int64_t free = free_bytes_;
    if (free >= 0) return static_cast<uint64_t>(free);
    return real_.FreeBytes(dir);
  }

 private:
  class File final : public WritableFile {
   public:
    File(FaultyFileStore* store, std::unique_ptr<WritableFile> real)
        : store_(store), real_(std::move(real)) {}
    absl::Status Append(std::string_view bytes) override {
      if (store_->bytes_left_ < static_cast<int64_t>(bytes.size())) {
        return absl::ResourceExhaustedError("injected: no space left on device");
      }
      store_->bytes_left_ -= static_cast<int64_t>(bytes.size());
      return real_->Append(bytes);
    }
    absl::Status Sync() override {
      if (store_->fail_syncs_) return absl::InternalError("injected sync error");
      return real_->Sync();
    }

   private:
    FaultyFileStore* store_;
    std::unique_ptr<WritableFile> real_;
  };

  FileStore& real_;
  std::atomic<int64_t> bytes_left_ = INT64_MAX;
  std::atomic<bool> fail_syncs_ = false;
  std::atomic<bool> fail_renames_ = false;
  std::atomic<int64_t> free_bytes_ = -1;
};

}  // namespace sm89::testing
