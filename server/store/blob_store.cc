#include "server/store/blob_store.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/log/log.h"
#include "sim/base/assert.h"
#include "sim/base/digest.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"

namespace sm89 {
namespace {

constexpr uint64_t kCopyBytes = 1 << 20;
constexpr Migration kMigrations[] = {
    {1,
     "CREATE TABLE blob_refs("
     "  owner TEXT NOT NULL, digest TEXT NOT NULL, size_bytes INTEGER NOT NULL, PRIMARY KEY(owner, digest)"
     ") WITHOUT ROWID;"
     "CREATE INDEX blob_refs_by_digest ON blob_refs(digest);"},
};

absl::StatusOr<std::string> HashFile(const ReadableFile& file) {
  Sha256 hash;
  for (uint64_t offset = 0; offset < file.size(); offset += kCopyBytes) {
    ASSIGN_OR_RETURN(const std::string part, file.Read(offset, kCopyBytes));
    hash.Update(part);
  }
  return hash.FinishHex();
}

}  // namespace

bool IsSha256Hex(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

BlobPin::BlobPin(BlobPin&& other) noexcept
    : store_(std::exchange(other.store_, nullptr)),
      digest_(std::move(other.digest_)),
      size_bytes_(other.size_bytes_) {}

BlobPin& BlobPin::operator=(BlobPin&& other) noexcept {
  if (this != &other) {
    Release();
    store_ = std::exchange(other.store_, nullptr);
    digest_ = std::move(other.digest_);
    size_bytes_ = other.size_bytes_;
  }
  return *this;
}

BlobPin::~BlobPin() { Release(); }

void BlobPin::Release() {
  if (store_ != nullptr) std::exchange(store_, nullptr)->Unpin(digest_);
}

class FileBlobWriter final : public BlobWriter {
 public:
  FileBlobWriter(BlobStore* store, std::string temporary, std::unique_ptr<WritableFile> file)
      : store_(store), temporary_(std::move(temporary)), file_(std::move(file)) {}

  ~FileBlobWriter() override {
    // Gone already after a good Commit; a leftover is cleared at next start.
    store_->files_.Remove(temporary_).IgnoreError();
  }

  absl::Status Append(std::string_view bytes) override {
    RETURN_IF_ERROR(error_);
    error_ = file_->Append(bytes);
    hash_.Update(bytes);
    size_bytes_ += bytes.size();
    return error_;
  }

  uint64_t size_bytes() const override { return size_bytes_; }

  absl::StatusOr<BlobPin> Commit(std::string_view expected_sha256) override {
    SM89_ASSERT(file_ != nullptr, "Commit is called once");
    RETURN_IF_ERROR(error_);
    const std::string digest = hash_.FinishHex();
    if (!expected_sha256.empty() && expected_sha256 != digest) {
      return absl::InvalidArgumentError(
          absl::StrCat("content has SHA-256 ", digest, ", expected ", Av(expected_sha256)));
    }
    RETURN_IF_ERROR(file_->Sync());
    file_.reset();
    return store_->Publish(temporary_, digest, size_bytes_);
  }

 private:
  BlobStore* store_;
  const std::string temporary_;
  std::unique_ptr<WritableFile> file_;
  Sha256 hash_;
  uint64_t size_bytes_ = 0;
  absl::Status error_;
};

absl::StatusOr<std::unique_ptr<BlobStore>> BlobStore::Open(FileStore& files, IdSource& ids, Database& db,
                                                           const std::string& root) {
  RETURN_IF_ERROR(db.Migrate("blobs", kMigrations));
  RETURN_IF_ERROR(files.MakeDirs(root + "/tmp"));
  std::unique_ptr<BlobStore> store(new BlobStore(files, ids, db, root));
  RETURN_IF_ERROR(store->ClearLeftovers());
  return store;
}

absl::Status BlobStore::ClearLeftovers() {
  RETURN_IF_ERROR(files_.RemoveTree(root_ + "/tmp"));
  RETURN_IF_ERROR(files_.MakeDirs(root_ + "/tmp"));
  std::set<std::string> referenced;
  RETURN_IF_ERROR(db_.Read([&](Transaction& tx) {
    return tx.Query("SELECT DISTINCT digest FROM blob_refs", {}, [&](const Row& row) {
      referenced.insert(row.Text(0));
      return absl::OkStatus();
    });
  }));
  MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(const std::vector<std::string> folders, files_.List(root_));
  for (const std::string& folder : folders) {
    if (folder.size() != 2) continue;
    ASSIGN_OR_RETURN(const std::vector<std::string> names, files_.List(absl::StrCat(root_, "/", folder)));
    for (const std::string& name : names) {
      if (!IsSha256Hex(name)) continue;
      if (referenced.count(name) != 0) {
        ASSIGN_OR_RETURN(const uint64_t size, files_.Size(PathOf(name)));
        total_bytes_ += size;
      } else {
        Log(LogLevel::kInfo, "orphan_blob_removed", {{"digest", name}});
        RETURN_IF_ERROR(files_.Remove(PathOf(name)));
      }
    }
  }
  return absl::OkStatus();
}

std::string BlobStore::PathOf(const std::string& digest) const {
  SM89_ASSERT(IsSha256Hex(digest), "blobs are named by a checked digest");
  return absl::StrCat(root_, "/", digest.substr(0, 2), "/", digest);
}

std::string BlobStore::TemporaryPath() { return absl::StrCat(root_, "/tmp/", ids_.NewId()); }

absl::StatusOr<std::unique_ptr<BlobWriter>> BlobStore::NewBlob() {
  const std::string path = TemporaryPath();
  ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, files_.Create(path));
  return std::make_unique<FileBlobWriter>(this, path, std::move(file));
}

absl::StatusOr<BlobPin> BlobStore::AddBytes(std::string_view bytes) {
  ASSIGN_OR_RETURN(const std::unique_ptr<BlobWriter> writer, NewBlob());
  RETURN_IF_ERROR(writer->Append(bytes));
  return writer->Commit("");
}

absl::StatusOr<BlobPin> BlobStore::AddFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ReadableFile> file, files_.OpenRead(path));
  ASSIGN_OR_RETURN(const std::string digest, HashFile(*file));
  ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> writable, files_.OpenAt(path, file->size()));
  RETURN_IF_ERROR(writable->Sync());
  return Publish(path, digest, file->size());
}

absl::StatusOr<BlobPin> BlobStore::Publish(const std::string& temporary, const std::string& digest,
                                           uint64_t size_bytes) {
  const std::string target = PathOf(digest);
  const std::string folder = absl::StrCat(root_, "/", digest.substr(0, 2));
  MutexLock lock(mutex_);
  RETURN_IF_ERROR(files_.MakeDirs(folder));
  const absl::StatusOr<uint64_t> present = files_.Size(target);
  if (!present.ok() && !absl::IsNotFound(present.status())) return present.status();
  // Even when the digest is there already the new file replaces it: if the old one was damaged, it heals.
  RETURN_IF_ERROR(files_.Rename(temporary, target));
  RETURN_IF_ERROR(files_.SyncDir(folder));
  RETURN_IF_ERROR(files_.SyncDir(root_));
  total_bytes_ += size_bytes - present.value_or(0);
  ++pins_[digest];
  return BlobPin(this, digest, size_bytes);
}

absl::StatusOr<std::unique_ptr<ReadableFile>> BlobStore::OpenBlob(const std::string& digest) {
  if (!IsSha256Hex(digest)) return absl::InvalidArgumentError("a digest is 64 lower-case hex digits");
  int64_t expected = -1;
  RETURN_IF_ERROR(db_.Read([&](Transaction& tx) {
    return tx.Query("SELECT size_bytes FROM blob_refs WHERE digest = ? LIMIT 1", {digest},
                    [&](const Row& row) {
                      expected = row.Int(0);
                      return absl::OkStatus();
                    });
  }));
  absl::StatusOr<std::unique_ptr<ReadableFile>> file = files_.OpenRead(PathOf(digest));
  if (expected < 0) return file;
  if (absl::IsNotFound(file.status())) {
    return absl::DataLossError(absl::StrCat("stored content ", digest, " is missing"));
  }
  if (file.ok() && (*file)->size() != static_cast<uint64_t>(expected)) {
    return absl::DataLossError(
        absl::StrCat("stored content ", digest, " has ", (*file)->size(), " bytes instead of ", expected));
  }
  return file;
}

absl::StatusOr<std::string> BlobStore::ReadBlob(const std::string& digest, uint64_t max_bytes) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ReadableFile> file, OpenBlob(digest));
  if (file->size() > max_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat("content ", digest, " has ", file->size(),
                                                     " bytes, at most ", max_bytes, " are read at once"));
  }
  return file->Read(0, max_bytes);
}

absl::Status BlobStore::Verify(const std::string& digest) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ReadableFile> file, OpenBlob(digest));
  ASSIGN_OR_RETURN(const std::string found, HashFile(*file));
  if (found == digest) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("stored content ", digest, " is damaged: it hashes to ", found));
}

absl::Status BlobStore::AddRef(Transaction& tx, std::string_view owner, const BlobPin& pin) {
  SM89_ASSERT(pin.store_ == this, "a reference is made while its pin lives");
  return tx.Run("INSERT OR IGNORE INTO blob_refs(owner, digest, size_bytes) VALUES(?, ?, ?)",
                {owner, pin.digest(), pin.size_bytes()});
}

absl::Status BlobStore::DropRefs(Transaction& tx, std::string_view owner, std::vector<std::string>* dropped) {
  RETURN_IF_ERROR(tx.Query("SELECT digest FROM blob_refs WHERE owner = ?", {owner}, [&](const Row& row) {
    dropped->push_back(row.Text(0));
    return absl::OkStatus();
  }));
  return tx.Run("DELETE FROM blob_refs WHERE owner = ?", {owner});
}

absl::StatusOr<bool> BlobStore::IsReferenced(const std::string& digest) {
  bool referenced = false;
  RETURN_IF_ERROR(db_.Read([&](Transaction& tx) {
    return tx.Query("SELECT 1 FROM blob_refs WHERE digest = ? LIMIT 1", {digest}, [&](const Row&) {
      referenced = true;
      return absl::OkStatus();
    });
  }));
  return referenced;
}

void BlobStore::RemoveUnreferenced(std::span<const std::string> digests) {
  // The mutex is held over check and removal: Publish takes it too, so a digest that comes back in between is
  // either written after the removal or seen as pinned.
  MutexLock lock(mutex_);
  for (const std::string& digest : digests) RemoveIfUnreferenced(digest);
}

void BlobStore::RemoveIfUnreferenced(const std::string& digest) {
  if (pins_.count(digest) != 0) return;
  const absl::StatusOr<bool> referenced = IsReferenced(digest);
  const absl::StatusOr<uint64_t> size = files_.Size(PathOf(digest));
  if (!referenced.ok() || *referenced || !size.ok()) return;
  if (const absl::Status removed = files_.Remove(PathOf(digest)); !removed.ok()) {
    Log(LogLevel::kWarn, "blob_removal_failed", {{"digest", digest}, {"error", removed.message()}});
    return;
  }
  total_bytes_ -= *size;
}

uint64_t BlobStore::total_bytes() const {
  MutexLock lock(mutex_);
  return total_bytes_;
}

void BlobStore::Unpin(const std::string& digest) {
  MutexLock lock(mutex_);
  const auto it = pins_.find(digest);
  SM89_ASSERT(it != pins_.end() && it->second > 0, "a pin is released once");
  if (--it->second > 0) return;
  pins_.erase(it);
  RemoveIfUnreferenced(digest);
}

}  // namespace sm89
