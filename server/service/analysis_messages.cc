#include "server/service/analysis_messages.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "server/service/validation.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

using Request = v1::AnalyzeRequest;

constexpr size_t kImageBytesMax = size_t{3} << 20;  // larger ones are uploaded
constexpr size_t kPtxBytesMax = size_t{3} << 20;
constexpr size_t kNameBytesMax = 4096;  // mangled names are long
constexpr uint32_t kArchMax = 999;
constexpr uint32_t kThreadsMax = 1024;                     // of a CTA
constexpr uint64_t kSharedBytesMax = uint64_t{256} << 10;  // above every architecture's

absl::StatusOr<std::string> KindName(const Request& request) {
  switch (request.kind()) {
    case Request::INFO:
      return "info";
    case Request::DIS:
      return "dis";
    case Request::LIVE:
      return "live";
    case Request::SPILLS:
      return "spills";
    case Request::MIX:
      return "mix";
    case Request::BANKS:
      return "banks";
    case Request::STALLS:
      return "stalls";
    case Request::PTX:
      return "ptx";
    case Request::MMA_LAYOUT:
      return "mma-layout";
    default:
      return FieldError("kind", absl::StrCat(request.kind()), "a kind of analysis",
                        "the kind of analysis is missing or unknown");
  }
}

absl::StatusOr<std::string> FormatName(const Request& request) {
  switch (request.format()) {
    case Request::FORMAT_UNSPECIFIED:
    case Request::TEXT:
      return "text";
    case Request::JSON:
      return "json";
    case Request::SVG:
      if (request.kind() == Request::MMA_LAYOUT) return "svg";
      return FieldError("format", "SVG", "TEXT or JSON", "only MMA_LAYOUT is drawn");
    default:
      return FieldError("format", absl::StrCat(request.format()), "TEXT, JSON or SVG",
                        "the format is unknown");
  }
}

absl::Status CheckCode(const Request& request) {
  const bool layout = request.kind() == Request::MMA_LAYOUT;
  if (layout && request.code_case() != Request::CODE_NOT_SET) {
    return FieldError("code", "", "no code", "MMA_LAYOUT is about the instructions, not about a program");
  }
  if (!layout &&
      (request.code_case() == Request::CODE_NOT_SET || (request.has_image() && request.image().empty()))) {
    return FieldError("code", "", "trace or image", "there is no code to analyse");
  }
  if (request.image().size() > kImageBytesMax) {
    return FieldError("image", absl::StrCat(request.image().size(), " bytes"),
                      absl::StrCat("at most ", kImageBytesMax, " bytes"),
                      "the image is too large for one message: upload it as a program and name it");
  }
  if (!request.has_trace() && !request.module().empty()) {
    return FieldError("module", request.module(), "nothing", "only a program has modules");
  }
  if (!request.ptx().empty() && request.kind() != Request::PTX) {
    return FieldError("ptx", absl::StrCat(request.ptx().size(), " bytes"), "nothing",
                      "only the kind PTX takes a text");
  }
  if (request.ptx().size() > kPtxBytesMax) {
    return FieldError("ptx", absl::StrCat(request.ptx().size(), " bytes"),
                      absl::StrCat("at most ", kPtxBytesMax, " bytes"), "the PTX text is too large");
  }
  return absl::OkStatus();
}

absl::Status CheckNumbers(const Request& request) {
  if (request.arch() > kArchMax)
    return FieldError("arch", absl::StrCat(request.arch()), "89, 80, ...", "there is no such architecture");
  if (request.has_launch() && (request.launch().threads() == 0 || request.launch().threads() > kThreadsMax)) {
    return FieldError("launch.threads", absl::StrCat(request.launch().threads()),
                      absl::StrCat("1..", kThreadsMax), "a CTA has no such number of threads");
  }
  if (request.launch().dynamic_shared_bytes() > kSharedBytesMax) {
    return FieldError("launch.dynamic_shared_bytes", absl::StrCat(request.launch().dynamic_shared_bytes()),
                      absl::StrCat("at most ", kSharedBytesMax), "no SM has so much shared memory");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<AnalysisJob> JobFromMessage(const v1::AnalyzeRequest& request) {
  AnalysisJob job;
  ASSIGN_OR_RETURN(job.kind, KindName(request));
  ASSIGN_OR_RETURN(job.format, FormatName(request));
  RETURN_IF_ERROR(CheckCode(request));
  RETURN_IF_ERROR(CheckNumbers(request));
  RETURN_IF_ERROR(CheckText("module", request.module(), kNameBytesMax));
  RETURN_IF_ERROR(CheckText("function", request.function(), kNameBytesMax));
  RETURN_IF_ERROR(CheckText("shape", request.shape(), kNameBytesMax));
  RETURN_IF_ERROR(CheckText("type", request.type(), kNameBytesMax));
  job.image = request.image();
  job.module = request.module();
  job.function = request.function();
  job.arch = request.arch();
  job.ptx = request.ptx();
  job.threads = request.launch().threads();
  job.dynamic_shared_bytes = request.launch().dynamic_shared_bytes();
  job.shape = request.shape();
  job.type = request.type();
  return job;
}

}  // namespace sm89
