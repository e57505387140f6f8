#include "client/result_reader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "client/checksum.h"
#include "tests/unit/client/fake_server.h"

namespace sm89::client {
namespace {

class ResultReaderTest : public ::testing::Test {
 protected:
  ResultReaderTest() : folder_(::testing::TempDir() + "/result-" + NewUuid()) {
    std::filesystem::create_directories(folder_);
    ClientOptions options;
    options.address = server_.address();
    options.reconnect_seconds = 0;
    client_ = Client::Create(options).value();
    v1::Result first;
    first.set_status("complete");
    first.set_total_cycles(77);
    first.add_kernels()->set_index(0);
    v1::Result second;
    second.add_kernels()->set_index(1);
    server_.state().result_parts = {first, second};
    server_.state().artifacts = {{"report.json", "{\"cycles\": 77, \"kernels\": []}\n"}};
  }
  ~ResultReaderTest() override { std::filesystem::remove_all(folder_); }

  static std::string ReadAll(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  FakeServer server_;
  std::filesystem::path folder_;
  std::unique_ptr<Client> client_;
};

TEST_F(ResultReaderTest, JoinsKernelsOverMessages) {
  const auto result = FetchResult(*client_, "jobs/a", {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->total_cycles(), 77u);
  ASSERT_EQ(result->kernels_size(), 2);
  EXPECT_EQ(result->kernels(1).index(), 1u);
}

TEST_F(ResultReaderTest, WritesArtifactsByteForByte) {
  FileSink sink((folder_ / "r.json").string());
  ASSERT_TRUE(FetchResult(*client_, "jobs/a", {{"report.json", &sink}}).ok());
  EXPECT_EQ(ReadAll(folder_ / "r.json"), server_.state().artifacts["report.json"]);
  // The temporary file is gone.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(ResultReaderTest, DamagedBytesAreNoticedAndNothingIsLeftBehind) {
  server_.state().flip_artifact_byte = "report.json";
  {
    FileSink sink((folder_ / "r.json").string());
    EXPECT_TRUE(absl::IsDataLoss(FetchResult(*client_, "jobs/a", {{"report.json", &sink}}).status()));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(ResultReaderTest, AnAbsentArtifactIsNotFound) {
  StringSink sink;
  EXPECT_TRUE(absl::IsNotFound(FetchResult(*client_, "jobs/a", {{"report.csv", &sink}}).status()));
}

TEST_F(ResultReaderTest, AnOldFileIsReplacedOnlyBySuccess) {
  std::ofstream(folder_ / "r.json") << "old";
  server_.state().flip_artifact_byte = "report.json";
  {
    FileSink sink((folder_ / "r.json").string());
    EXPECT_FALSE(FetchResult(*client_, "jobs/a", {{"report.json", &sink}}).ok());
  }
  EXPECT_EQ(ReadAll(folder_ / "r.json"), "old");
}

TEST_F(ResultReaderTest, UnwritablePlacesAreErrors) {
  FileSink sink((folder_ / "no" / "such" / "r.json").string());
  EXPECT_TRUE(absl::IsFailedPrecondition(FetchResult(*client_, "jobs/a", {{"report.json", &sink}}).status()));
}

}  // namespace
}  // namespace sm89::client
