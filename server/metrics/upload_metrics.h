// Counters of trace uploads and of what their reading found.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

namespace prometheus {
class Counter;
class Registry;
}  // namespace prometheus

namespace sm89 {

enum class UploadEndLabel : uint8_t { kStored, kDeduplicated };
inline constexpr size_t kNumUploadEndLabels = 2;
std::string_view Name(UploadEndLabel end);

enum class UploadFailureLabel : uint8_t {
  kInvalidTrace,  // finalize read it and refused it
  kBadDigest,     // size or digest differ from what was declared
  kTooLarge,      // a limit or the disk reserve
  kAbandoned,     // expired or aborted by the client
  kStoreError,    // our disk or database
};
inline constexpr size_t kNumUploadFailureLabels = 5;
std::string_view Name(UploadFailureLabel failure);

// What reading a trace found wrong.
enum class TraceErrorKind : uint8_t {
  kMalformed,    // a line that breaks the format
  kMissingFile,  // the list names what is not there
  kUnsupported,  // version, architecture or grouping that is not accepted
  kUnknownOpcode,
  kLimit,  // bound on size, members or ratio
  kOther,
};
inline constexpr size_t kNumTraceErrorKinds = 6;
std::string_view Name(TraceErrorKind kind);

// The kind of an ingest error, from its code and its first fault.
TraceErrorKind ClassifyTraceError(const absl::Status& status);

class UploadMetrics {
 public:
  explicit UploadMetrics(prometheus::Registry& registry);

  void Started();
  void Received(uint64_t bytes);
  void Finished(UploadEndLabel end);
  void Failed(UploadFailureLabel failure);
  void TraceError(TraceErrorKind kind);

 private:
  prometheus::Counter* started_;
  prometheus::Counter* bytes_;
  std::array<prometheus::Counter*, kNumUploadEndLabels> finished_;
  std::array<prometheus::Counter*, kNumUploadFailureLabels> failed_;
  std::array<prometheus::Counter*, kNumTraceErrorKinds> trace_errors_;
};

}  // namespace sm89
