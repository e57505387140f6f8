// What every reader of one ingest shares: the byte budget, cancellation, progress and warnings.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sim/ingest/ingest.h"
#include "sim/trace/trace_types.h"

namespace sm89 {

// Warnings by kind, each kind bounded: the first ones in full, then a count. Not thread-safe.
class WarningLog {
 public:
  void Add(const std::string& kind, const std::string& message);
  // In the order in which the kinds were first met.
  std::vector<TraceWarning> Take();

 private:
  struct Kind {
    std::vector<TraceWarning> kept;
    uint64_t dropped = 0;
    size_t order = 0;
  };
  std::map<std::string, Kind> kinds_;
};

// Not thread-safe; outlives every reader made from it.
class IngestContext {
 public:
  explicit IngestContext(const IngestOptions& options) : options_(options) {}

  const IngestOptions& options() const { return options_; }
  WarningLog& warnings() { return warnings_; }

  // Counts `bytes` that `file` unpacked to. RESOURCE_EXHAUSTED once the whole input passes the bound.
  absl::Status ChargeUnpacked(uint64_t bytes, const std::string& file);
  // Plain files came out of an archive, where their bytes were charged.
  void SetPlainBytesCharged() { plain_bytes_charged_ = true; }
  bool plain_bytes_charged() const { return plain_bytes_charged_; }
  // CANCELLED once the caller asked for it. Cheap: called for every refill.
  absl::Status CheckCancelled() const;

  // Progress is told in bytes of the input. A phase that reads `phase_bytes` moves it from `begin` to `end`
  // of `total`.
  void BeginPhase(uint64_t phase_bytes, uint64_t begin, uint64_t end, uint64_t total);
  void CountInputBytes(uint64_t bytes);

  // While one lives, what is read does not move the progress and has a budget of its own, as large as the
  // input's: for looking at headers and for reading a file again.
  class Quiet {
   public:
    explicit Quiet(IngestContext& context) : context_(context) {
      if (context_.quiet_++ == 0) context_.quiet_bytes_ = 0;
    }
    ~Quiet() { --context_.quiet_; }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

   private:
    IngestContext& context_;
  };

 private:
  const IngestOptions& options_;
  WarningLog warnings_;
  uint64_t unpacked_bytes_ = 0;
  uint64_t quiet_bytes_ = 0;
  bool plain_bytes_charged_ = false;
  int quiet_ = 0;
  uint64_t phase_done_ = 0;
  uint64_t phase_bytes_ = 0;
  uint64_t phase_begin_ = 0;
  uint64_t phase_end_ = 0;
  uint64_t total_bytes_ = 0;
};

}  // namespace sm89
