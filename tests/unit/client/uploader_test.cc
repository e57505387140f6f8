#include "client/uploader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "client/checksum.h"
#include "client/error.h"
#include "tests/unit/client/fake_server.h"

namespace sm89::client {
namespace {

class UploaderTest : public ::testing::Test {
 protected:
  UploaderTest() : folder_(::testing::TempDir() + "/uploader-" + NewUuid()) {
    std::filesystem::create_directories(folder_);
    for (int i = 0; i < 5000; ++i) content_ += static_cast<char>('a' + i % 23);
    std::ofstream(folder_ / "t.tar.xz", std::ios::binary) << content_;
    settings_.journal_directory = (folder_ / "journal").string();
    settings_.on_retry = [this](const absl::Status&, uint64_t) { ++retries_; };
    Connect(20);
  }
  ~UploaderTest() override { std::filesystem::remove_all(folder_); }

  void Connect(double reconnect_seconds) {
    ClientOptions options;
    options.address = server_.address();
    options.reconnect_seconds = reconnect_seconds;
    options.retry_seconds = 0.2;
    client_ = Client::Create(options).value();
  }
  absl::StatusOr<UploadOutcome> Run() {
    const auto file = LocalFile::Open((folder_ / "t.tar.xz").string(), "t.tar.xz");
    if (!file.ok()) return file.status();
    return Upload(*client_, *file, settings_);
  }

  FakeServer server_;
  std::filesystem::path folder_;
  std::string content_;
  std::unique_ptr<Client> client_;
  UploadSettings settings_;
  int retries_ = 0;
};

TEST_F(UploaderTest, SendsEverythingInChunks) {
  const auto outcome = Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->trace.name(), "traces/t1");
  EXPECT_EQ(outcome->sent_bytes, content_.size());
  EXPECT_FALSE(outcome->known_already);
  EXPECT_EQ(server_.state().uploads["uploads/1"].data, content_);
  EXPECT_EQ(server_.state().begins.front().sha256(), Sha256Hex(content_));
  EXPECT_EQ(server_.state().begins.front().display_name(), "t.tar.xz");
}

TEST_F(UploaderTest, KnownContentIsNotSent) {
  ASSERT_TRUE(Run().ok());
  const auto outcome = Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_TRUE(outcome->known_already);
  EXPECT_EQ(outcome->sent_bytes, 0u);
  EXPECT_EQ(server_.state().write_streams, 1);
}

TEST_F(UploaderTest, ResumesAfterEachBreakFromWhatIsCommitted) {
  server_.state().break_write_at = {1000, 3000, 5000};
  const auto outcome = Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(server_.state().uploads["uploads/1"].data, content_);
  EXPECT_EQ(server_.state().write_streams, 4);
  EXPECT_EQ(retries_, 3);
}

TEST_F(UploaderTest, ADamagedChunkIsSentAgain) {
  server_.state().damage_next_chunk = true;
  const auto outcome = Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(server_.state().uploads["uploads/1"].data, content_);
  EXPECT_EQ(server_.state().write_streams, 2);
}

TEST_F(UploaderTest, TheNextRunOfTheProgramResumes) {
  server_.state().break_write_at = {2000};
  Connect(/*reconnect_seconds=*/0);  // gives up at once, as after a kill
  EXPECT_TRUE(absl::IsUnavailable(Run().status()));
  Connect(20);
  const auto outcome = Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->resumed_from, 2000u);
  EXPECT_EQ(outcome->sent_bytes, content_.size() - 2000);
  EXPECT_EQ(server_.state().uploads.size(), 1u);
  // Done: the journal forgets it.
  EXPECT_TRUE(std::filesystem::is_empty(settings_.journal_directory));
}

TEST_F(UploaderTest, AForgottenSessionIsBegunAnew) {
  server_.state().forget_uploads_once = true;
  const auto outcome = Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  ASSERT_EQ(server_.state().begins.size(), 2u);
  EXPECT_NE(server_.state().begins[0].request_id(), server_.state().begins[1].request_id());
}

TEST_F(UploaderTest, AnInvalidTraceBringsItsFaultsAndIsNotRetried) {
  v1::ErrorDetail detail;
  v1::Fault& fault = *detail.add_faults();
  fault.set_file("kernel-1.traceg");
  fault.set_line(28);
  server_.state().finalize_error = WithDetail(absl::InvalidArgumentError("bad trace"), detail);
  const absl::Status status = Run().status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  ASSERT_TRUE(DetailOf(status).has_value());
  EXPECT_EQ(DetailOf(status)->faults(0).line(), 28u);
  EXPECT_EQ(server_.state().begins.size(), 1u);
}

TEST_F(UploaderTest, FilesMissingFromTheTraceAreNoLostSession) {
  v1::ErrorDetail detail;
  detail.add_faults()->set_file("kernelslist.g");
  server_.state().finalize_error = WithDetail(absl::NotFoundError("files are missing"), detail);
  EXPECT_TRUE(absl::IsNotFound(Run().status()));
  EXPECT_EQ(server_.state().begins.size(), 1u);
}

TEST_F(UploaderTest, ALongValidationIsAskedForAgain) {
  server_.state().finalize_deadline_misses = 2;
  const auto outcome = Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->trace.state(), v1::Trace::READY);
}

TEST_F(UploaderTest, UnusableFilesAreInputErrors) {
  for (const char* name : {"none.tar", "."}) {
    const auto file = LocalFile::Open((folder_ / name).string(), name);
    EXPECT_TRUE(absl::IsInvalidArgument(file.status())) << name;
    EXPECT_TRUE(DetailOf(file.status()).has_value()) << name;
  }
  std::ofstream(folder_ / "empty.tar");
  EXPECT_TRUE(absl::IsInvalidArgument(LocalFile::Open((folder_ / "empty.tar").string(), "x").status()));
}

}  // namespace
}  // namespace sm89::client
