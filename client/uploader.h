// A whole upload: digest first (so that known content is not sent again), chunks with checksums, resume after
// any break, and waiting for the server's validation.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/client.h"
#include "client/local_file.h"

namespace sm89::client {

struct UploadProgress {
  enum class Stage { kHashing, kSending, kValidating };
  Stage stage = Stage::kHashing;
  uint64_t done_bytes = 0;
  uint64_t total_bytes = 0;
};

struct UploadSettings {
  v1::IngestOptions options;
  std::string journal_directory;  // where unfinished uploads are remembered; empty = nowhere
  std::function<void(const UploadProgress&)> on_progress;                       // may be empty
  std::function<void(const absl::Status&, uint64_t committed_bytes)> on_retry;  // may be empty
};

struct UploadOutcome {
  v1::Trace trace;             // READY
  bool known_already = false;  // the server had it: nothing was sent
  uint64_t sent_bytes = 0;
  uint64_t resumed_from = 0;  // bytes that an earlier, unfinished upload had already brought
};

// The error of an invalid trace is the server's, with its faults.
absl::StatusOr<UploadOutcome> Upload(Client& client, const LocalFile& file, const UploadSettings& settings);

}  // namespace sm89::client
