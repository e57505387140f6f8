#include "server/store/blob_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/store/data_dir.h"
#include "sim/base/digest.h"
#include "tests/support/faulty_file_store.h"
#include "tests/support/temp_dir.h"

namespace sm89 {
namespace {

using testing::FaultyFileStore;
using testing::TempDir;

class BlobStoreTest : public ::testing::Test {
 protected:
  void SetUp() override { Restart(); }
  void Restart() {
    blobs_.reset();
    db_.reset();
    auto db = Database::Open({dir_.File("db")});
    ASSERT_TRUE(db.ok()) << db.status();
    db_ = *std::move(db);
    auto blobs = BlobStore::Open(files_, SystemIdSource(), *db_, dir_.File("blobs"));
    ASSERT_TRUE(blobs.ok()) << blobs.status();
    blobs_ = *std::move(blobs);
  }
  std::string Add(const std::string& owner, const std::string& bytes) {
    auto pin = blobs_->AddBytes(bytes);
    EXPECT_TRUE(pin.ok()) << pin.status();
    EXPECT_TRUE(db_->Write([&](Transaction& tx) { return blobs_->AddRef(tx, owner, *pin); }).ok());
    return pin->digest();
  }
  void Drop(const std::string& owner) {
    std::vector<std::string> dropped;
    EXPECT_TRUE(db_->Write([&](Transaction& tx) { return blobs_->DropRefs(tx, owner, &dropped); }).ok());
    blobs_->RemoveUnreferenced(dropped);
  }
  TempDir dir_;
  FaultyFileStore files_{PosixFileStore()};
  std::unique_ptr<Database> db_;
  std::unique_ptr<BlobStore> blobs_;
};

TEST_F(BlobStoreTest, StoresOnceAndKeepsUntilTheLastOwnerLeaves) {
  const std::string digest = Add("a", "content");
  EXPECT_EQ(Add("b", "content"), digest);
  EXPECT_EQ(digest, Sha256Hex("content"));
  EXPECT_EQ(blobs_->total_bytes(), 7u);
  Drop("a");
  EXPECT_EQ(*blobs_->ReadBlob(digest, 100), "content");
  Drop("b");
  EXPECT_EQ(blobs_->ReadBlob(digest, 100).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(blobs_->total_bytes(), 0u);
}

TEST_F(BlobStoreTest, APinKeepsABlobThatLosesItsLastOwner) {
  const std::string digest = Add("a", "content");
  auto pin = blobs_->AddBytes("content");
  ASSERT_TRUE(pin.ok());
  Drop("a");
  EXPECT_TRUE(blobs_->ReadBlob(digest, 100).ok());
  ASSERT_TRUE(db_->Write([&](Transaction& tx) { return blobs_->AddRef(tx, "b", *pin); }).ok());
  { const BlobPin released = *std::move(pin); }
  EXPECT_TRUE(blobs_->ReadBlob(digest, 100).ok());
}

TEST_F(BlobStoreTest, ABlobThatNobodyReferredToGoesWithItsPin) {
  std::string digest;
  {
    auto first = blobs_->AddBytes("content");
    auto second = blobs_->AddBytes("content");
    ASSERT_TRUE(first.ok() && second.ok());
    digest = first->digest();
    first = absl::CancelledError();
    EXPECT_TRUE(blobs_->ReadBlob(digest, 100).ok());
  }
  EXPECT_EQ(blobs_->ReadBlob(digest, 100).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(blobs_->total_bytes(), 0u);
}

TEST_F(BlobStoreTest, RestartKeepsReferencedAndClearsTheRest) {
  const std::string kept = Add("a", "kept");
  const std::string orphan = Sha256Hex("orphan");
  const std::string orphan_path = blobs_->PathOf(orphan);
  ASSERT_TRUE(PosixFileStore().MakeDirs(orphan_path.substr(0, orphan_path.rfind('/'))).ok());
  ASSERT_TRUE(AtomicWriteFile(PosixFileStore(), orphan_path, "orphan").ok());
  ASSERT_TRUE(AtomicWriteFile(PosixFileStore(), dir_.File("blobs/tmp/half"), "half").ok());
  Restart();
  EXPECT_TRUE(blobs_->ReadBlob(kept, 100).ok());
  EXPECT_EQ(blobs_->ReadBlob(orphan, 100).status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(files_.List(dir_.File("blobs/tmp"))->empty());
  EXPECT_EQ(blobs_->total_bytes(), 4u);
}

TEST_F(BlobStoreTest, AFullDiskLeavesNothingAndPasses) {
  files_.SetBytesLeft(3);
  EXPECT_EQ(blobs_->AddBytes("content").status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(files_.List(dir_.File("blobs/tmp"))->empty());
  files_.SetBytesLeft(INT64_MAX);
  EXPECT_TRUE(blobs_->AddBytes("content").ok());
}

TEST_F(BlobStoreTest, NothingIsVisibleWithoutASync) {
  files_.FailSyncs(true);
  EXPECT_FALSE(blobs_->AddBytes("content").ok());
  EXPECT_EQ(blobs_->ReadBlob(Sha256Hex("content"), 100).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(BlobStoreTest, AWrongDigestStoresNothing) {
  auto writer = blobs_->NewBlob();
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->Append("content").ok());
  EXPECT_EQ((*writer)->Commit(Sha256Hex("other")).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(blobs_->total_bytes(), 0u);
}

TEST_F(BlobStoreTest, DamageIsFound) {
  const std::string digest = Add("a", "content");
  ASSERT_TRUE(AtomicWriteFile(PosixFileStore(), blobs_->PathOf(digest), "c0ntent").ok());
  EXPECT_EQ(blobs_->Verify(digest).code(), absl::StatusCode::kDataLoss);
  ASSERT_TRUE(AtomicWriteFile(PosixFileStore(), blobs_->PathOf(digest), "").ok());
  EXPECT_EQ(blobs_->OpenBlob(digest).status().code(), absl::StatusCode::kDataLoss);
  ASSERT_TRUE(PosixFileStore().Remove(blobs_->PathOf(digest)).ok());
  EXPECT_EQ(blobs_->OpenBlob(digest).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Add("b", "content"), digest);  // bringing it again heals it
  EXPECT_TRUE(blobs_->Verify(digest).ok());
}

TEST_F(BlobStoreTest, TakesAFinishedFileOver) {
  ASSERT_TRUE(AtomicWriteFile(PosixFileStore(), dir_.File("made"), "content").ok());
  auto pin = blobs_->AddFile(dir_.File("made"));
  ASSERT_TRUE(pin.ok()) << pin.status();
  EXPECT_EQ(pin->digest(), Sha256Hex("content"));
  EXPECT_EQ(pin->size_bytes(), 7u);
  EXPECT_FALSE(files_.Size(dir_.File("made")).ok());
  EXPECT_EQ(*blobs_->ReadBlob(pin->digest(), 100), "content");
}

TEST(DataDir, OneDaemonAtATime) {
  TempDir dir;
  const std::string path = dir.File("data");
  auto first = DataDir::Open(PosixFileStore(), path);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = DataDir::Open(PosixFileStore(), path);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(std::string(second.status().message()).find("process "), std::string::npos);
  first->reset();
  EXPECT_TRUE(DataDir::Open(PosixFileStore(), path).ok());
}

}  // namespace
}  // namespace sm89
