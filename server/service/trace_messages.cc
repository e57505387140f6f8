#include "server/service/trace_messages.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "server/service/status_conversion.h"
#include "server/service/validation.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"

namespace sm89 {
namespace {

constexpr size_t kTextBytes = 4096;
constexpr size_t kFilterBytes = 1000;
constexpr char kFilterSyntax[] =
    "terms joined by AND: state=UPLOADING|VALIDATING|READY|INVALID, display_name:part";

constexpr TraceState kStates[] = {TraceState::kUploading, TraceState::kValidating, TraceState::kReady,
                                  TraceState::kInvalid};

absl::Status ReadTerm(absl::string_view term, TraceFilter* filter) {
  if (absl::ConsumePrefix(&term, "state=") && !filter->state.has_value()) {
    for (const TraceState state : kStates) {
      if (Sv(term) == Name(state)) filter->state = state;
    }
    if (filter->state.has_value()) return absl::OkStatus();
  } else if (absl::ConsumePrefix(&term, "display_name:") && filter->display_name_part.empty() &&
             !term.empty()) {
    filter->display_name_part = std::string(term);
    return absl::OkStatus();
  }
  return FieldError("filter", Sv(term), kFilterSyntax, "the filter has a term that is not understood");
}

}  // namespace

void ToMessage(const TraceRecord& record, v1::Trace* message) {
  message->set_name("traces/" + record.id);
  message->set_display_name(record.display_name);
  message->set_state(static_cast<v1::Trace::State>(record.state));
  message->set_upload_sha256(record.upload_sha256);
  message->set_upload_bytes(record.upload_bytes);
  const TraceContent& content = record.content;
  message->set_digest(content.digest);
  message->set_stored_bytes(content.stored_bytes);
  message->set_kernels(static_cast<uint32_t>(content.kernels));
  message->set_warp_instructions(content.warp_instructions);
  message->set_thread_instructions(content.thread_instructions);
  message->set_memcpy_h2d_bytes(content.memcpy_h2d_bytes);
  for (const std::string& mark : content.marks) message->add_marks(CleanText(mark, kTextBytes));
  for (const std::string& warning : content.warnings) message->add_warnings(CleanText(warning, kTextBytes));
  message->mutable_options()->set_foreign_arch(record.options.foreign_arch);
  message->mutable_options()->set_allow_partial(record.options.allow_partial);
  message->mutable_options()->set_unknown_as_nop(record.options.unknown_as_nop);
  message->mutable_options()->set_machine_code(record.options.machine_code);
  if (!record.error.ok()) {
    *message->mutable_error() = ToErrorDetail(record.error, kTraceSubject);
    message->set_error_message(CleanText(Sv(record.error.message()), kTextBytes));
  }
  message->mutable_create_time()->set_unix_nanos(record.create_unix_nanos);
  message->set_etag(record.etag());
}

absl::StatusOr<BeginUpload> FromMessage(const v1::BeginUploadRequest& request) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id()));
  BeginUpload begin;
  begin.request_id = request.request_id();
  begin.display_name = request.display_name();
  begin.size_bytes = request.size_bytes();
  begin.sha256 = request.sha256();
  begin.options = {request.options().foreign_arch(), request.options().allow_partial(),
                   request.options().unknown_as_nop(), request.options().machine_code()};
  return begin;
}

absl::StatusOr<TraceFilter> ParseTraceFilter(const std::string& text) {
  TraceFilter filter;
  RETURN_IF_ERROR(CheckText("filter", text, kFilterBytes));
  if (text.empty()) return filter;
  for (const absl::string_view term : absl::StrSplit(text, " AND ")) RETURN_IF_ERROR(ReadTerm(term, &filter));
  return filter;
}

}  // namespace sm89
