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

// An error about the trace or machine code that `field` of the specification names.
absl::Status NamedBy(const std::string& field, const std::string& id, const absl::Status& status) {
  if (status.ok()) return status;
  Fault fault;
  fault.field = field;
  fault.value = absl::StrCat("traces/", id);
  fault.message = std::string(status.message());
  const absl::Status named = InputError(status.code(), fault);
  return absl::IsNotFound(status) ? WithSubject(named, kTraceSubject) : named;
}

std::string SassField(size_t i) { return absl::StrCat("sass[", i, "]"); }

absl::Status NothingToKeep(const TraceRecord& trace) {
  Fault fault;
  fault.field = "keep_trace";
  fault.value = "true";
  fault.expected = "a program";
  fault.message =
      absl::StrCat("traces/", trace.id, " is a trace already: only what a program executes is kept");
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

absl::Status NothingExecutes(const JobSpec& spec) {
  Fault fault;
  fault.field = "limits.max_instructions";
  fault.value = absl::StrCat(spec.max_instructions);
  fault.expected = "a program";
  fault.message = absl::StrCat("traces/", spec.trace, " is a trace: only what is executed is bounded");
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

absl::StatusOr<TraceRecord> StoredInputs::GetTrace(const std::string& id, const std::string& field) {
  absl::StatusOr<TraceRecord> trace = traces_.Get(id);
  RETURN_IF_ERROR(NamedBy(field, id, trace.status()));
  if (trace->state != TraceState::kReady) return NotReady(*trace, field);
  return trace;
}

absl::StatusOr<CodeInput> StoredInputs::ResolveCode(const std::string& id, const std::string& field) {
  ASSIGN_OR_RETURN(const TraceRecord code, GetTrace(id, field));
  if (!code.options.machine_code) {
    return WrongKind(field, code, "an upload of machine code", "a trace or a program");
  }
  return CodeInput{code.content.digest, code.content.blob, code.display_name};
}

absl::StatusOr<ResolvedInputs> StoredInputs::Resolve(const JobSpec& spec) {
  ASSIGN_OR_RETURN(const TraceRecord trace, GetTrace(spec.trace, "trace"));
  if (trace.options.machine_code) {
    return WrongKind("trace", trace, "a trace or a program", "machine code: name it in 'sass'");
  }
  if (!spec.sass.empty() && IsProgram(trace.content)) {
    return WrongKind("sass", trace, "a trace", "a program: what is executed has its machine code");
  }
  if (spec.keep_trace && !IsProgram(trace.content)) return NothingToKeep(trace);
  if (spec.max_instructions != 0 && !IsProgram(trace.content)) return NothingExecutes(spec);
  std::vector<CodeInput> sass;
  for (size_t i = 0; i < spec.sass.size(); ++i) {
    ASSIGN_OR_RETURN(CodeInput code, ResolveCode(spec.sass[i], SassField(i)));
    if (i < spec.sass_names.size() && !spec.sass_names[i].empty()) code.display_name = spec.sass_names[i];
    sass.push_back(std::move(code));
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
  RETURN_IF_ERROR(RecheckOne(tx, spec.trace, "trace", inputs.trace_blob));
  for (size_t i = 0; i < spec.sass.size(); ++i) {
    RETURN_IF_ERROR(RecheckOne(tx, spec.sass[i], SassField(i), inputs.sass[i].blob));
  }
  return absl::OkStatus();
}

absl::Status StoredInputs::RecheckOne(Transaction& tx, const std::string& id, const std::string& field,
                                      const std::string& blob) {
  const absl::StatusOr<TraceRecord> trace = traces_.RequireReady(tx, id);
  RETURN_IF_ERROR(NamedBy(field, id, trace.status()));
  return trace->content.blob == blob ? absl::OkStatus() : NotReady(*trace, field);
}

absl::StatusOr<std::string> StoredInputs::PathOf(const std::string& blob, const std::string& field,
                                                 const std::string& display_name) {
  // Opening checks that the file is there and has its size.
  const absl::Status there = blobs_.OpenBlob(blob).status();
  if (there.ok()) return blobs_.PathOf(blob);
  return absl::FailedPreconditionError(
      absl::StrCat(field, " '", display_name, "' is not stored any more: ", std::string(there.message())));
}

absl::StatusOr<InputPaths> StoredInputs::Paths(const JobInputs& inputs) {
  InputPaths paths;
  ASSIGN_OR_RETURN(paths.trace, PathOf(inputs.trace_blob, "trace", inputs.trace_display_name));
  for (size_t i = 0; i < inputs.sass.size(); ++i) {
    ASSIGN_OR_RETURN(paths.sass.emplace_back(),
                     PathOf(inputs.sass[i].blob, SassField(i), inputs.sass[i].display_name));
  }
  return paths;
}

}  // namespace sm89
