// Decompresses an artifact on its way to another sink.
#pragma once

#include <zlib.h>

#include <memory>
#include <string>

#include "client/result_reader.h"

namespace sm89::client {

// Expects gzip, any number of members. DATA_LOSS when the bytes are no such stream or end within one.
class GunzipSink : public ArtifactSink {
 public:
  explicit GunzipSink(std::unique_ptr<ArtifactSink> to);
  ~GunzipSink() override;
  GunzipSink(const GunzipSink&) = delete;
  GunzipSink& operator=(const GunzipSink&) = delete;
  absl::Status Restart() override;
  absl::Status Append(const std::string& data) override;
  absl::Status Commit() override;

 private:
  std::unique_ptr<ArtifactSink> to_;
  z_stream stream_ = {};
  bool ready_ = false;
  bool whole_ = false;  // a member has ended and none has begun
};

}  // namespace sm89::client
