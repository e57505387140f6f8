// What the metrics want to know of uploads. Calls are quick, from any thread, and hold no lock of the traces.
#pragma once

#include <cstdint>

#include "absl/status/status.h"

namespace sm89 {

enum class UploadFailureKind : uint8_t {
  kInvalidTrace,  // it was read and refused
  kBadDigest,     // size or digest differ from what was declared
  kTooLarge,      // a limit or the disk reserve
  kAbandoned,     // expired or aborted by the client
  kStoreError,    // our disk, database or process
};

class TraceObserver {
 public:
  virtual ~TraceObserver() = default;
  virtual void UploadStarted() {}
  virtual void UploadDeduplicated() {}
  virtual void BytesReceived(uint64_t /*bytes*/) {}
  virtual void UploadStored() {}
  virtual void UploadFailed(UploadFailureKind /*kind*/) {}
  // What reading an upload found wrong.
  virtual void TraceRefused(const absl::Status& /*error*/) {}
};

}  // namespace sm89
