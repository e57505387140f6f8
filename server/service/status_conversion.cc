#include "server/service/status_conversion.h"

#include <algorithm>
#include <vector>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "server/os/file_store.h"
#include "sim/base/fault.h"
#include "sim/base/strings.h"
#include "sm89/v1/rpc_status.pb.h"

namespace sm89 {
namespace {

// Of about 8 KiB: the text grows up to threefold by percent-encoding, the details by a third by base64.
constexpr size_t kRpcMessageBytes = 900;
constexpr size_t kRpcDetailBytes = 3400;
constexpr size_t kRpcTextBytes = 256;  // of one field of one fault
// Inside messages.
constexpr size_t kTextBytes = 4096;
constexpr int kFaultsMax = 1000;
constexpr uint32_t kRetryAfterSeconds = 5;

constexpr char kTypePrefix[] = "type.googleapis.com";

void AddFault(const Fault& fault, size_t text_bytes, v1::ErrorDetail* detail) {
  v1::Fault* out = detail->add_faults();
  out->set_file(CleanText(fault.file, text_bytes));
  out->set_line(fault.line);
  out->set_field(CleanText(fault.field, text_bytes));
  out->set_value(CleanText(fault.value, text_bytes));
  out->set_expected(CleanText(fault.expected, text_bytes));
  out->set_message(CleanText(fault.message, text_bytes));
  for (const auto& [key, value] : fault.facts) {
    (*out->mutable_facts())[CleanText(key, text_bytes)] = CleanText(value, text_bytes);
  }
}

constexpr char kSubjectPayload[] = "sm89/subject";

std::string ReasonOf(const absl::Status& status, std::string_view subject) {
  const absl::optional<absl::Cord> own = status.GetPayload(kSubjectPayload);
  return absl::StrCat(own.has_value() ? std::string(*own) : std::string(subject), "_",
                      Av(CodeName(status.code())));
}

// Everything but the faults.
v1::ErrorDetail DetailHead(const absl::Status& status, std::string_view subject,
                           const std::vector<Fault>& faults, size_t text_bytes) {
  v1::ErrorDetail detail;
  detail.set_reason(ReasonOf(status, subject));
  detail.set_domain("sm89");
  if (!faults.empty()) {
    for (const auto& [key, value] : faults.front().facts) {
      (*detail.mutable_metadata())[CleanText(key, text_bytes)] = CleanText(value, text_bytes);
    }
  }
  if (absl::IsUnavailable(status) || absl::IsResourceExhausted(status)) {
    detail.set_retry_after_seconds(kRetryAfterSeconds);
  }
  return detail;
}

}  // namespace

std::string_view CodeName(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return "OK";
    case absl::StatusCode::kCancelled:
      return "CANCELLED";
    case absl::StatusCode::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case absl::StatusCode::kDeadlineExceeded:
      return "DEADLINE_EXCEEDED";
    case absl::StatusCode::kNotFound:
      return "NOT_FOUND";
    case absl::StatusCode::kAlreadyExists:
      return "ALREADY_EXISTS";
    case absl::StatusCode::kPermissionDenied:
      return "PERMISSION_DENIED";
    case absl::StatusCode::kResourceExhausted:
      return "RESOURCE_EXHAUSTED";
    case absl::StatusCode::kFailedPrecondition:
      return "FAILED_PRECONDITION";
    case absl::StatusCode::kAborted:
      return "ABORTED";
    case absl::StatusCode::kOutOfRange:
      return "OUT_OF_RANGE";
    case absl::StatusCode::kUnimplemented:
      return "UNIMPLEMENTED";
    case absl::StatusCode::kInternal:
      return "INTERNAL";
    case absl::StatusCode::kUnavailable:
      return "UNAVAILABLE";
    case absl::StatusCode::kDataLoss:
      return "DATA_LOSS";
    case absl::StatusCode::kUnauthenticated:
      return "UNAUTHENTICATED";
    default:
      return "UNKNOWN";
  }
}

std::string CleanText(std::string_view text, size_t max_bytes) {
  constexpr std::string_view kMore = "...";
  std::string out(text.substr(0, max_bytes));
  if (text.size() > max_bytes) {
    out.resize(max_bytes - std::min(kMore.size(), max_bytes));
    // Not in the middle of a character.
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0) == 0x80) out.pop_back();
    if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xC0) out.pop_back();
    out += kMore;
  }
  if (IsValidUtf8(out)) return out;
  std::replace_if(
      out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return out;
}

absl::Status WithSubject(absl::Status status, std::string_view subject) {
  if (!status.ok()) status.SetPayload(kSubjectPayload, absl::Cord(Av(subject)));
  return status;
}

v1::ErrorDetail ToErrorDetail(const absl::Status& status, std::string_view subject) {
  const std::vector<Fault> faults = FaultsOf(status);
  v1::ErrorDetail detail = DetailHead(status, subject, faults, kTextBytes);
  for (const Fault& fault : faults) {
    if (detail.faults_size() >= kFaultsMax) break;
    AddFault(fault, kTextBytes, &detail);
  }
  return detail;
}

grpc::Status ToGrpc(const absl::Status& status, std::string_view subject) {
  if (status.ok()) return grpc::Status::OK;
  const std::vector<Fault> faults = FaultsOf(status);
  v1::ErrorDetail detail = DetailHead(status, subject, faults, kRpcTextBytes);
  size_t given = 0;
  for (const Fault& fault : faults) {
    AddFault(fault, kRpcTextBytes, &detail);
    if (detail.ByteSizeLong() > kRpcDetailBytes) {
      detail.mutable_faults()->RemoveLast();
      break;
    }
    ++given;
  }
  if (given < faults.size()) (*detail.mutable_metadata())["faults_total"] = absl::StrCat(faults.size());
  const std::string message = CleanText(Sv(status.message()), kRpcMessageBytes);
  v1::RpcStatus rpc;
  rpc.set_code(static_cast<int>(status.code()));
  rpc.set_message(CleanText(message, kRpcTextBytes));
  rpc.add_details()->PackFrom(detail, kTypePrefix);
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), message, rpc.SerializeAsString());
}

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const auto code = static_cast<absl::StatusCode>(status.error_code());
  v1::RpcStatus rpc;
  v1::ErrorDetail detail;
  std::vector<Fault> faults;
  if (rpc.ParseFromString(status.error_details())) {
    for (const auto& any : rpc.details()) {
      if (!any.Is<v1::ErrorDetail>() || !any.UnpackTo(&detail)) continue;
      for (const v1::Fault& in : detail.faults()) {
        Fault fault;
        fault.file = in.file();
        fault.line = in.line();
        fault.field = in.field();
        fault.value = in.value();
        fault.expected = in.expected();
        fault.message = in.message();
        for (const auto& [key, value] : in.facts()) fault.facts.emplace_back(key, value);
        std::sort(fault.facts.begin(), fault.facts.end());  // a protobuf map has no order
        faults.push_back(std::move(fault));
      }
    }
  }
  absl::Status plain(code, status.error_message());
  if (faults.empty()) return plain;
  // The text stays as it came: InputError would list the faults in it once more.
  const absl::Status carrier = InputError(code, "", faults);
  carrier.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { plain.SetPayload(url, payload); });
  return plain;
}

}  // namespace sm89
