// Fetching a job's result: the typed report and stored artifacts, byte for byte.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/client.h"

namespace sm89::client {

// Where one artifact's bytes go.
class ArtifactSink {
 public:
  virtual ~ArtifactSink() = default;
  // Forget everything appended: the transfer starts over.
  virtual absl::Status Restart() = 0;
  virtual absl::Status Append(const std::string& data) = 0;
  // Called once, after size and digest were found right.
  virtual absl::Status Commit() = 0;
};

struct WantedArtifact {
  std::string name;              // "report.json"
  ArtifactSink* sink = nullptr;  // not owned
};

// All kernels of the report are in the returned message. A lost connection is retried from the start within
// the client's reconnect_seconds (retry_seconds when the server was never reached). DATA_LOSS when bytes do
// not match the digest that the server states.
absl::StatusOr<v1::Result> FetchResult(Client& client, const std::string& job,
                                       const std::vector<WantedArtifact>& artifacts);

// Keeps the bytes in memory.
class StringSink : public ArtifactSink {
 public:
  absl::Status Restart() override;
  absl::Status Append(const std::string& data) override;
  absl::Status Commit() override;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// True when both paths lead to one file, or to one that would be made.
bool IsOneFile(const std::string& a, const std::string& b);

// Writes beside `path` and renames on Commit, so that a reader never sees half a file. Without Commit
// nothing is left behind.
class FileSink : public ArtifactSink {
 public:
  explicit FileSink(std::string path);
  ~FileSink() override;
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  absl::Status Restart() override;
  absl::Status Append(const std::string& data) override;
  absl::Status Commit() override;

 private:
  std::string path_;
  std::string temporary_;
  int fd_ = -1;
};

}  // namespace sm89::client
