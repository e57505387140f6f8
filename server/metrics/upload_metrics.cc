#include "server/metrics/upload_metrics.h"

#include "server/metrics/families.h"

namespace sm89 {

UploadMetrics::UploadMetrics(prometheus::Registry& registry)
    : started_(MakeCounter(registry, "sm89_uploads_started_total", "Trace uploads begun.")),
      bytes_(MakeCounter(registry, "sm89_upload_bytes_total", "Bytes of traces received and kept.")),
      finished_(MakeCounters<UploadEnd, kNumUploadEnds>(registry, "sm89_uploads_finished_total",
                                                        "Trace uploads that gave a usable trace.", "result")),
      failed_(MakeCounters<UploadFailure, kNumUploadFailures>(
          registry, "sm89_uploads_failed_total", "Trace uploads that ended without a trace.", "reason")),
      trace_errors_(MakeCounters<TraceErrorKind, kNumTraceErrorKinds>(
          registry, "sm89_trace_parse_errors_total", "Traces refused while reading them.", "kind")) {}

void UploadMetrics::Started() { started_->Increment(); }
void UploadMetrics::Received(uint64_t bytes) { bytes_->Increment(static_cast<double>(bytes)); }
void UploadMetrics::Finished(UploadEnd end) { finished_[static_cast<size_t>(end)]->Increment(); }
void UploadMetrics::Failed(UploadFailure failure) { failed_[static_cast<size_t>(failure)]->Increment(); }
void UploadMetrics::TraceError(TraceErrorKind kind) { trace_errors_[static_cast<size_t>(kind)]->Increment(); }

}  // namespace sm89
