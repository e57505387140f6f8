// Beginning, writing, resuming, aborting and sweeping uploads.
#include <gtest/gtest.h>

#include <string>

#include "sim/base/fault.h"
#include "tests/support/trace_fixture.h"

namespace sm89 {
namespace {

using testing::ArgOf;
using testing::Crc;
using testing::TraceFixture;

class UploadTest : public TraceFixture {};

TEST_F(UploadTest, RefusesBadDeclarations) {
  for (const char* name : {"", "../x", "a/b", ".", "..", "-rf", "a\nb", "/abs"}) {
    EXPECT_EQ(manager_->Begin(Request("x", name)).status().code(), absl::StatusCode::kInvalidArgument)
        << name;
  }
  BeginUpload bad_hash = Request("x");
  bad_hash.sha256[0] = 'X';
  EXPECT_EQ(manager_->Begin(bad_hash).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(manager_->Begin(Request("")).status().code(), absl::StatusCode::kInvalidArgument);
  BeginUpload huge = Request("x");
  huge.size_bytes = ~uint64_t{0};
  EXPECT_EQ(manager_->Begin(huge).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(manager_->counts().traces, 0u);
}

TEST_F(UploadTest, WritesOnlyAtTheCommittedOffset) {
  const std::string id = Begin(Request("0123456789"));
  ASSERT_TRUE(Write(id, 0, "0123").ok());
  for (const uint64_t offset : {uint64_t{0}, uint64_t{5}, ~uint64_t{0}}) {
    const absl::Status status = Write(id, offset, "4");
    EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
    EXPECT_EQ(FaultsOf(status).at(0).facts.at(0).second, "4");
  }
  EXPECT_EQ(Write(id, 4, "4567890").code(),
            absl::StatusCode::kOutOfRange);  // one byte past the declared size
  ASSERT_TRUE(Write(id, 4, "456789").ok());
  EXPECT_EQ(manager_->Query(id)->committed_bytes, 10u);
  EXPECT_TRUE(Finalize(id).ok());
}

TEST_F(UploadTest, ADamagedOrLongChunkIsRefusedAndWhatWasCommittedStays) {
  const std::string id = Begin(Request(std::string(5000, 'a')));
  auto stream = manager_->OpenStream(id);
  ASSERT_TRUE(stream.ok());
  ASSERT_TRUE((*stream)->Write(0, "aaaa", Crc("aaaa")).ok());
  EXPECT_EQ((*stream)->Write(4, "aaaa", Crc("aaab")).code(), absl::StatusCode::kDataLoss);
  const std::string too_long(1025, 'a');
  EXPECT_EQ((*stream)->Write(4, too_long, Crc(too_long)).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(*(*stream)->Finish(), 4u);
}

TEST_F(UploadTest, ANewerStreamTakesOver) {
  const std::string id = Begin(Request("0123456789"));
  auto old_stream = manager_->OpenStream(id);
  auto new_stream = manager_->OpenStream(id);
  ASSERT_TRUE(old_stream.ok() && new_stream.ok());
  EXPECT_EQ((*old_stream)->Write(0, "01", Crc("01")).code(), absl::StatusCode::kAborted);
  EXPECT_TRUE((*new_stream)->Write(0, "01", Crc("01")).ok());
}

TEST_F(UploadTest, TheSameRequestGivesTheSameUpload) {
  BeginUpload request = Request("0123456789");
  request.request_id = "r1";
  const std::string id = Begin(request);
  ASSERT_TRUE(Write(id, 0, "0123").ok());
  const auto again = manager_->Begin(request);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->upload_id, id);
  EXPECT_EQ(again->committed_bytes, 4u);
  Restart();
  EXPECT_EQ(manager_->Begin(request)->upload_id, id);
  BeginUpload other = request;
  other.options.allow_partial = true;
  EXPECT_EQ(manager_->Begin(other).status().code(), absl::StatusCode::kAlreadyExists);
  ASSERT_TRUE(manager_->Abort(id).ok());
  EXPECT_NE(Begin(request), id);  // what it named is gone: it begins anew
}

TEST_F(UploadTest, GoesOnAfterARestart) {
  const std::string id = Begin(Request("0123456789"));
  ASSERT_TRUE(Write(id, 0, "0123").ok());
  Restart();
  EXPECT_EQ(manager_->Query(id)->committed_bytes, 4u);
  ASSERT_TRUE(Write(id, 4, "456789").ok());
  const auto trace = Finalize(id);
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->state, TraceState::kReady);
}

TEST_F(UploadTest, StartsOverWhenItsFileIsGone) {
  const std::string id = Begin(Request("0123456789"));
  ASSERT_TRUE(Write(id, 0, "0123").ok());
  Stop();
  ASSERT_TRUE(files_.RemoveTree(dir_.File("uploads")).ok());
  Start();
  EXPECT_EQ(manager_->Query(id)->committed_bytes, 0u);
  ASSERT_TRUE(Write(id, 0, "0123456789").ok());
  EXPECT_TRUE(Finalize(id).ok());
}

TEST_F(UploadTest, AFullDiskKeepsWhatWasCommittedAndPasses) {
  const std::string id = Begin(Request("0123456789"));
  ASSERT_TRUE(Write(id, 0, "0123").ok());
  files_.SetBytesLeft(2);
  EXPECT_EQ(Write(id, 4, "456789").code(), absl::StatusCode::kResourceExhausted);
  files_.SetBytesLeft(INT64_MAX);
  EXPECT_EQ(manager_->Query(id)->committed_bytes, 4u);
  ASSERT_TRUE(Write(id, 4, "456789").ok());
  EXPECT_TRUE(Finalize(id).ok());
}

TEST_F(UploadTest, AFailedSyncIsNotCalledCommitted) {
  const std::string id = Begin(Request("0123456789"));
  ASSERT_TRUE(Write(id, 0, "0123").ok());
  files_.FailSyncs(true);
  EXPECT_FALSE(Write(id, 4, "456789").ok());
  files_.FailSyncs(false);
  EXPECT_EQ(manager_->Query(id)->committed_bytes, 4u);
  ASSERT_TRUE(Write(id, 4, "456789").ok());
  EXPECT_TRUE(Finalize(id).ok());
}

TEST_F(UploadTest, KeepsTheDiskReserveAndTheLimitOfOpenUploads) {
  options_.limits.min_free_bytes = 1000;
  options_.limits.max_open = 2;
  Restart();
  files_.SetFreeBytes(1009);
  EXPECT_EQ(manager_->Begin(Request("0123456789")).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(observer_.failed(UploadFailureKind::kTooLarge), 1u);
  files_.SetFreeBytes(1010);
  Begin(Request("0123456789"));
  Begin(Request("1"));
  EXPECT_EQ(manager_->Begin(Request("2")).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(UploadTest, AbandonedUploadsAreSweptButNotByAStepOfTheWallClock) {
  const std::string id = Begin(Request("0123456789"));
  clock_.Advance(std::chrono::seconds(60));
  ASSERT_TRUE(Write(id, 0, "01").ok());
  clock_.StepWall(std::chrono::hours(1000));
  clock_.Advance(std::chrono::seconds(60));
  manager_->Sweep();
  EXPECT_TRUE(manager_->Query(id).ok());
  clock_.Advance(std::chrono::seconds(40));
  manager_->Sweep();
  EXPECT_EQ(manager_->Query(id).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(FilesUnder("uploads"), 0u);
  EXPECT_EQ(observer_.failed(UploadFailureKind::kAbandoned), 1u);
}

TEST_F(UploadTest, AnAbortedUploadIsGoneAndItsStreamEnds) {
  const std::string id = Begin(Request("0123456789"));
  auto stream = manager_->OpenStream(id);
  ASSERT_TRUE(stream.ok());
  ASSERT_TRUE(manager_->Abort(id).ok());
  EXPECT_EQ((*stream)->Write(0, "01", Crc("01")).code(), absl::StatusCode::kAborted);
  EXPECT_EQ(manager_->Abort(id).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Finalize(id).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(FilesUnder("uploads"), 0u);
}

TEST_F(UploadTest, LeftoversOfACrashAreCleared) {
  Stop();
  ASSERT_TRUE(files_.MakeDirs(dir_.File("uploads/unknown")).ok());
  Start();
  EXPECT_EQ(FilesUnder("uploads"), 0u);
}

}  // namespace
}  // namespace sm89
