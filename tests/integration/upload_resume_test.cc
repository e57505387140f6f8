// An upload that is cut off, by the client's end or the daemon's, goes on where it was.
#include <sys/stat.h>

#include "client/checksum.h"
#include "tests/integration/service_test.h"

namespace sm89::testing {
namespace {

constexpr size_t kChunkBytes = 4096;

class UploadResumeTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_TRUE(daemon_.Start());
    const auto go_on = [](uint64_t, uint64_t) { return true; };
    file_.emplace(client::PackTrace(Example().string(), client::PackLimits(), go_on).value());
    ASSERT_GT(file_->size_bytes(), 3 * kChunkBytes);
    begin_.set_request_id(client::NewUuid());
    begin_.set_display_name(file_->display_name());
    begin_.set_size_bytes(file_->size_bytes());
    begin_.set_sha256(file_->Digest([](uint64_t) { return true; }).value());
  }

  // Writes `chunks` chunks from `offset` on and leaves without finishing.
  void WriteSome(client::Client& client, const std::string& upload, uint64_t offset, int chunks) {
    const auto stream = client.OpenWrite();
    v1::WriteUploadRequest request;
    request.set_upload(upload);
    for (int i = 0; i < chunks; ++i) {
      request.set_data(file_->Read(offset, kChunkBytes).value());
      request.set_offset(offset);
      request.set_crc32(client::Crc32(request.data().data(), request.data().size()));
      ASSERT_TRUE(stream->Write(request));
      request.clear_upload();
      offset += kChunkBytes;
    }
    EXPECT_FALSE(stream->Finish().ok()) << "a stream without finish must not be a complete upload";
  }

  uint64_t Committed(client::Client& client, const std::string& upload) {
    v1::QueryWriteStatusRequest query;
    query.set_upload(upload);
    const auto answer = client.QueryWriteStatus(query);
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() ? answer->committed_bytes() : 0;
  }

  DaemonFixture daemon_;
  std::optional<client::LocalFile> file_;
  v1::BeginUploadRequest begin_;
};

TEST_F(UploadResumeTest, GoesOnAfterTheDaemonWasKilled) {
  const auto client = Connect(daemon_);
  const auto begun = client->BeginUpload(begin_);
  ASSERT_TRUE(begun.ok()) << begun.status();
  WriteSome(*client, begun->upload(), 0, 2);
  EXPECT_EQ(Committed(*client, begun->upload()), 2 * kChunkBytes);
  daemon_.KillNow();
  ASSERT_TRUE(daemon_.Start());
  const auto again = client->BeginUpload(begin_);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->upload(), begun->upload()) << "the same request is the same upload";
  EXPECT_LE(again->committed_bytes(), 2 * kChunkBytes);

  // The ordinary uploader takes over the session and brings the rest.
  client::UploadSettings settings;
  const auto outcome = client::Upload(*client, *file_, settings);
  ASSERT_TRUE(outcome.ok()) << outcome.status() << daemon_.log();
  EXPECT_EQ(outcome->trace.state(), v1::Trace::READY);
}

TEST_F(UploadResumeTest, AGracefulStopKeepsEveryCommittedByte) {
  const auto client = Connect(daemon_);
  const auto begun = client->BeginUpload(begin_);
  ASSERT_TRUE(begun.ok()) << begun.status();
  WriteSome(*client, begun->upload(), 0, 3);
  ASSERT_TRUE(daemon_.Stop());
  ASSERT_TRUE(daemon_.Start());
  EXPECT_EQ(Committed(*client, begun->upload()), 3 * kChunkBytes);
}

TEST_F(UploadResumeTest, WrongBytesAreRefusedAndNothingIsStored) {
  const auto client = Connect(daemon_);
  const auto begun = client->BeginUpload(begin_);
  ASSERT_TRUE(begun.ok()) << begun.status();
  v1::WriteUploadRequest request;
  request.set_upload(begun->upload());
  request.set_data("not what the checksum says");
  request.set_crc32(1);
  {
    const auto stream = client->OpenWrite();
    stream->Write(request);
    EXPECT_EQ(stream->Finish().status().code(), absl::StatusCode::kDataLoss);
  }
  EXPECT_EQ(Committed(*client, begun->upload()), 0u);
  request.set_offset(77);
  request.set_crc32(client::Crc32(request.data().data(), request.data().size()));
  {
    const auto stream = client->OpenWrite();
    stream->Write(request);
    EXPECT_EQ(stream->Finish().status().code(), absl::StatusCode::kOutOfRange);
  }
  // The right length, other bytes: only the digest of the whole can tell.
  const auto stream = client->OpenWrite();
  request.set_data(std::string(file_->size_bytes() < kChunkBytes ? file_->size_bytes() : kChunkBytes, 'x'));
  for (uint64_t offset = 0; offset < file_->size_bytes(); offset += request.data().size()) {
    request.mutable_data()->resize(std::min<uint64_t>(kChunkBytes, file_->size_bytes() - offset), 'x');
    request.set_offset(offset);
    request.set_crc32(client::Crc32(request.data().data(), request.data().size()));
    request.set_finish(offset + request.data().size() == file_->size_bytes());
    ASSERT_TRUE(stream->Write(request));
    request.clear_upload();
  }
  ASSERT_TRUE(stream->Finish().ok());
  v1::FinalizeUploadRequest finalize;
  finalize.set_upload(begun->upload());
  const auto trace = client->FinalizeUpload(finalize, 60);
  EXPECT_EQ(trace.status().code(), absl::StatusCode::kInvalidArgument) << trace.status();
}

}  // namespace
}  // namespace sm89::testing
