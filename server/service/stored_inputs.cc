#include "server/service/stored_inputs.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

absl::Status NotReady(const TraceRecord& trace) {
  Fault fault;
  fault.field = "trace";
  fault.value = absl::StrCat("traces/", trace.id);
  fault.expected = "a trace in state READY";
  fault.message = absl::StrCat("the trace is ", std::string(Name(trace.state)));
  return InputError(absl::StatusCode::kFailedPrecondition, fault);
}

absl::Status NothingToKeep(const TraceRecord& trace) {
  Fault fault;
  fault.field = "keep_trace";
  fault.value = "true";
  fault.expected = "a program";
  fault.message =
      absl::StrCat("traces/", trace.id, " is a trace already: only what a program executes is kept");
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

}  // namespace

absl::StatusOr<ResolvedInputs> StoredInputs::Resolve(const JobSpec& spec) {
  ASSIGN_OR_RETURN(const TraceRecord trace, traces_.Get(spec.trace));
  if (trace.state != TraceState::kReady) return NotReady(trace);
  if (spec.keep_trace && !IsProgram(trace.content)) return NothingToKeep(trace);
  ASSIGN_OR_RETURN(const NamedConfig config, configs_.Resolve(spec.config, spec.overrides));
  ResolvedInputs resolved;
  resolved.inputs.trace_digest = trace.content.digest;
  resolved.inputs.trace_blob = trace.content.blob;
  resolved.inputs.trace_display_name = trace.display_name;
  resolved.inputs.config_digest = config.config.digest;
  resolved.inputs.config_text = config.worker_text();
  resolved.kernel_count =
      static_cast<uint32_t>(std::min<uint64_t>(trace.content.kernels, std::numeric_limits<uint32_t>::max()));
  return resolved;
}

absl::Status StoredInputs::Recheck(Transaction& tx, const JobSpec& spec, const JobInputs& inputs) {
  ASSIGN_OR_RETURN(const TraceRecord trace, traces_.RequireReady(tx, spec.trace));
  return trace.content.blob == inputs.trace_blob ? absl::OkStatus() : NotReady(trace);
}

absl::StatusOr<std::string> StoredInputs::TracePath(const JobInputs& inputs) {
  // Opening checks that the file is there and has its size.
  const absl::Status there = blobs_.OpenBlob(inputs.trace_blob).status();
  if (!there.ok()) return absl::FailedPreconditionError(there.message());
  return blobs_.PathOf(inputs.trace_blob);
}

}  // namespace sm89
