#include "server/metrics/upload_metrics.h"

#include <algorithm>

#include "server/metrics/families.h"
#include "sim/base/fault.h"

namespace sm89 {
namespace {

// True when the fault is about `word`: by its field or by one of its facts.
bool IsAbout(const Fault& fault, std::string_view word) {
  const auto has = [word](const std::string& text) { return text.find(word) != std::string::npos; };
  return has(fault.field) || std::any_of(fault.facts.begin(), fault.facts.end(),
                                         [&has](const auto& fact) { return has(fact.first); });
}

}  // namespace

TraceErrorKind ClassifyTraceError(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return TraceErrorKind::kMissingFile;
    case absl::StatusCode::kResourceExhausted:
      return TraceErrorKind::kLimit;
    case absl::StatusCode::kUnimplemented:
      return TraceErrorKind::kUnsupported;
    case absl::StatusCode::kInvalidArgument:
      break;
    default:
      return TraceErrorKind::kOther;
  }
  const std::vector<Fault> faults = FaultsOf(status);
  if (faults.empty()) return TraceErrorKind::kMalformed;
  if (IsAbout(faults.front(), "opcode")) return TraceErrorKind::kUnknownOpcode;
  if (IsAbout(faults.front(), "version") || IsAbout(faults.front(), "supported")) {
    return TraceErrorKind::kUnsupported;
  }
  return TraceErrorKind::kMalformed;
}

UploadMetrics::UploadMetrics(prometheus::Registry& registry)
    : started_(MakeCounter(registry, "sm89_uploads_started_total", "Trace uploads begun.")),
      bytes_(MakeCounter(registry, "sm89_upload_bytes_total", "Bytes of traces received and kept.")),
      finished_(MakeCounters<UploadEndLabel, kNumUploadEndLabels>(
          registry, "sm89_uploads_finished_total", "Trace uploads that gave a usable trace.", "result")),
      failed_(MakeCounters<UploadFailureLabel, kNumUploadFailureLabels>(
          registry, "sm89_uploads_failed_total", "Trace uploads that ended without a trace.", "reason")),
      trace_errors_(MakeCounters<TraceErrorKind, kNumTraceErrorKinds>(
          registry, "sm89_trace_parse_errors_total", "Traces refused while reading them.", "kind")) {}

void UploadMetrics::Started() { started_->Increment(); }
void UploadMetrics::Received(uint64_t bytes) { bytes_->Increment(static_cast<double>(bytes)); }
void UploadMetrics::Finished(UploadEndLabel end) { finished_[static_cast<size_t>(end)]->Increment(); }
void UploadMetrics::Failed(UploadFailureLabel failure) { failed_[static_cast<size_t>(failure)]->Increment(); }
void UploadMetrics::TraceError(TraceErrorKind kind) { trace_errors_[static_cast<size_t>(kind)]->Increment(); }

}  // namespace sm89
