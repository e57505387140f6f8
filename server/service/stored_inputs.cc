#include "server/service/stored_inputs.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/service/status_conversion.h"
#include "server/service/trace_messages.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

absl::Status NotReady(const TraceRecord& trace, const std::string& field) {
  Fault fault;
  fault.field = field;
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

absl::Status NothingDecides() {
  Fault fault;
  fault.field = "ser_trace";
  fault.expected = "a configuration with -gpgpu_sm89_ser_enabled 1, such as RTX4090_SER";
  fault.message = "the configuration has no reordering stage whose decisions could be kept";
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

absl::Status WrongKind(const std::string& field, const TraceRecord& trace, const std::string& expected,
                       const std::string& what) {
  Fault fault;
  fault.field = field;
  fault.value = absl::StrCat("traces/", trace.id);
  fault.expected = expected;
  fault.message = absl::StrCat("traces/", trace.id, " is ", what);
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

}  // namespace

absl::StatusOr<TraceRecord> StoredInputs::GetTrace(const std::string& id) {
  absl::StatusOr<TraceRecord> trace = traces_.Get(id);
  if (absl::IsNotFound(trace.status())) return WithSubject(trace.status(), kTraceSubject);
  return trace;
}

absl::StatusOr<CodeInput> StoredInputs::ResolveCode(const std::string& id) {
  ASSIGN_OR_RETURN(const TraceRecord code, GetTrace(id));
  if (code.state != TraceState::kReady) return NotReady(code, "sass");
  if (!IsMachineCode(code.content)) {
    return WrongKind("sass", code, "an upload of machine code", "a trace or a program");
  }
  return CodeInput{code.content.digest, code.content.blob, code.display_name};
}

absl::StatusOr<ResolvedInputs> StoredInputs::Resolve(const JobSpec& spec) {
  ASSIGN_OR_RETURN(const TraceRecord trace, GetTrace(spec.trace));
  if (trace.state != TraceState::kReady) return NotReady(trace, "trace");
  if (IsMachineCode(trace.content)) {
    return WrongKind("trace", trace, "a trace or a program", "machine code: name it in 'sass'");
  }
  if (!spec.sass.empty() && IsProgram(trace.content)) {
    return WrongKind("sass", trace, "a trace", "a program: what is executed has its machine code");
  }
  if (spec.keep_trace && !IsProgram(trace.content)) return NothingToKeep(trace);
  std::vector<CodeInput> sass;
  for (const std::string& id : spec.sass) {
    ASSIGN_OR_RETURN(sass.emplace_back(), ResolveCode(id));
  }
  absl::StatusOr<NamedConfig> found = configs_.Resolve(spec.config, spec.overrides);
  if (absl::IsNotFound(found.status())) return WithSubject(found.status(), "CONFIG");
  ASSIGN_OR_RETURN(const NamedConfig config, std::move(found));
  if (spec.ser_trace != SerTraceFormat::kNone && !config.config.gpu.ser.enabled) return NothingDecides();
  ResolvedInputs resolved;
  resolved.inputs.trace_digest = trace.content.digest;
  resolved.inputs.trace_blob = trace.content.blob;
  resolved.inputs.trace_display_name = trace.display_name;
  resolved.inputs.config_digest = config.config.digest;
  resolved.inputs.config_text = config.worker_text();
  resolved.inputs.sass = std::move(sass);
  resolved.kernel_count =
      static_cast<uint32_t>(std::min<uint64_t>(trace.content.kernels, std::numeric_limits<uint32_t>::max()));
  return resolved;
}

absl::Status StoredInputs::Recheck(Transaction& tx, const JobSpec& spec, const JobInputs& inputs) {
  ASSIGN_OR_RETURN(const TraceRecord trace, traces_.RequireReady(tx, spec.trace));
  if (trace.content.blob != inputs.trace_blob) return NotReady(trace, "trace");
  for (size_t i = 0; i < spec.sass.size(); ++i) {
    ASSIGN_OR_RETURN(const TraceRecord code, traces_.RequireReady(tx, spec.sass[i]));
    if (code.content.blob != inputs.sass[i].blob) return NotReady(code, "sass");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> StoredInputs::PathOf(const std::string& blob) {
  // Opening checks that the file is there and has its size.
  const absl::Status there = blobs_.OpenBlob(blob).status();
  if (!there.ok()) return absl::FailedPreconditionError(there.message());
  return blobs_.PathOf(blob);
}

absl::StatusOr<InputPaths> StoredInputs::Paths(const JobInputs& inputs) {
  InputPaths paths;
  ASSIGN_OR_RETURN(paths.trace, PathOf(inputs.trace_blob));
  for (const CodeInput& code : inputs.sass) {
    ASSIGN_OR_RETURN(paths.sass.emplace_back(), PathOf(code.blob));
  }
  return paths;
}

}  // namespace sm89
