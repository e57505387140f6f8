// What the daemon knows of a trace: plain values, no gRPC, no protobuf.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace sm89 {

enum class TraceState : uint8_t { kUploading = 1, kValidating = 2, kReady = 3, kInvalid = 4 };
// "UPLOADING", ...
std::string_view Name(TraceState state);

// Concessions that the uploader asked for.
struct TraceOptions {
  bool foreign_arch = false;
  bool allow_partial = false;
  bool unknown_as_nop = false;
  bool machine_code = false;  // no trace, but code that jobs name beside one

  friend bool operator==(const TraceOptions&, const TraceOptions&) = default;
};

// What reading the upload found.
struct TraceContent {
  std::string digest;  // of the content, whatever its packing: results are cached by it
  std::string blob;    // of the compact file in the blob store
  uint64_t stored_bytes = 0;
  uint64_t kernels = 0;
  uint64_t warp_instructions = 0;
  uint64_t thread_instructions = 0;
  uint64_t memcpy_h2d_bytes = 0;
  std::vector<std::string> marks;
  std::vector<std::string> warnings;  // at most 100
};

// True for a program: machine code that the worker executes.
bool IsProgram(const TraceContent& content);

struct TraceRecord {
  std::string id;  // "traces/{id}" and, until it is ready, "uploads/{id}"
  std::string display_name;
  TraceState state = TraceState::kUploading;
  std::string upload_sha256;
  uint64_t upload_bytes = 0;
  uint64_t committed_bytes = 0;  // kUploading
  TraceOptions options;
  TraceContent content;  // kReady
  absl::Status error;    // kInvalid
  int64_t create_unix_nanos = 0;
  int64_t sequence = 0;  // grows; the order of listings
  int64_t version = 1;   // changes with every change

  std::string etag() const;
};

}  // namespace sm89
