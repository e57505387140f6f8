// The text of every label value that comes from an enum.
#include <string_view>

#include "server/metrics/job_metrics.h"
#include "server/metrics/live_state.h"
#include "server/metrics/upload_metrics.h"
#include "server/metrics/worker_metrics.h"
#include "sim/base/assert.h"

namespace sm89 {
namespace {

template <class Enum, size_t N>
std::string_view At(const std::array<std::string_view, N>& names, Enum value) {
  SM89_ASSERT(static_cast<size_t>(value) < N, "a value outside its enum");
  return names[static_cast<size_t>(value)];
}

constexpr std::array<std::string_view, kNumJobStateLabels> kJobStates = {
    "queued", "starting", "running", "lost_contact", "cancelling", "succeeded", "failed", "cancelled"};
constexpr std::array<std::string_view, kNumWorkerStateLabels> kWorkerStates = {
    "starting", "idle", "busy", "lost_contact", "draining", "stopped", "backoff"};
constexpr std::array<std::string_view, kNumJobOutcomeLabels> kOutcomes = {"succeeded", "failed", "cancelled"};
constexpr std::array<std::string_view, kNumRequeueReasonLabels> kRequeueReasons = {
    "lost_contact", "worker_died", "daemon_restart"};
constexpr std::array<std::string_view, kNumWorkerExitLabels> kWorkerExits = {"normal", "error", "signal",
                                                                             "out_of_memory", "killed"};
constexpr std::array<std::string_view, kNumUploadEndLabels> kUploadEnds = {"stored", "deduplicated"};
constexpr std::array<std::string_view, kNumUploadFailureLabels> kUploadFailures = {
    "invalid_trace", "bad_digest", "too_large", "abandoned", "store_error"};
constexpr std::array<std::string_view, kNumTraceErrorKinds> kTraceErrorKinds = {
    "malformed", "missing_file", "unsupported", "unknown_opcode", "limit", "other"};

}  // namespace

std::string_view Name(JobStateLabel state) { return At(kJobStates, state); }
std::string_view Name(WorkerStateLabel state) { return At(kWorkerStates, state); }
std::string_view Name(JobOutcomeLabel outcome) { return At(kOutcomes, outcome); }
std::string_view Name(RequeueReasonLabel reason) { return At(kRequeueReasons, reason); }
std::string_view Name(WorkerExitLabel exit) { return At(kWorkerExits, exit); }
std::string_view Name(UploadEndLabel end) { return At(kUploadEnds, end); }
std::string_view Name(UploadFailureLabel failure) { return At(kUploadFailures, failure); }
std::string_view Name(TraceErrorKind kind) { return At(kTraceErrorKinds, kind); }

}  // namespace sm89
