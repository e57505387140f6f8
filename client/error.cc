#include "client/error.h"

#include <algorithm>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "sm89/v1/rpc_status.pb.h"

namespace sm89::client {
namespace {

constexpr char kDetailUrl[] = "type.googleapis.com/sm89.v1.ErrorDetail";

}  // namespace

std::optional<v1::ErrorDetail> DetailOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kDetailUrl);
  if (!payload.has_value()) return std::nullopt;
  v1::ErrorDetail detail;
  if (!detail.ParseFromString(std::string(*payload))) return std::nullopt;
  return detail;
}

absl::Status WithDetail(absl::Status status, const v1::ErrorDetail& detail) {
  if (!status.ok()) status.SetPayload(kDetailUrl, absl::Cord(detail.SerializeAsString()));
  return status;
}

absl::Status InputError(const std::string& reason, const std::string& message,
                        const std::vector<v1::Fault>& faults) {
  v1::ErrorDetail detail;
  detail.set_reason(reason);
  detail.set_domain("sm89");
  for (const v1::Fault& fault : faults) *detail.add_faults() = fault;
  return WithDetail(absl::InvalidArgumentError(message), detail);
}

absl::Status DecodeStatus(int code, const std::string& message, const std::string& details) {
  if (code == 0) return absl::OkStatus();
  absl::Status status(static_cast<absl::StatusCode>(code), message);
  v1::RpcStatus rpc;
  if (details.empty() || !rpc.ParseFromString(details)) return status;
  for (const google::protobuf::Any& any : rpc.details()) {
    v1::ErrorDetail detail;
    if (any.Is<v1::ErrorDetail>() && any.UnpackTo(&detail)) return WithDetail(std::move(status), detail);
  }
  return status;
}

absl::Status FromRecordedError(const std::string& code_name, const std::string& message,
                               const v1::ErrorDetail& detail) {
  absl::StatusCode code = CodeFromName(code_name);
  if (code == absl::StatusCode::kOk) code = absl::StatusCode::kUnknown;
  return WithDetail(absl::Status(code, message), detail);
}

std::string FormatFault(const v1::Fault& fault) {
  std::string text = fault.file();
  if (fault.line() > 0) absl::StrAppend(&text, ":", fault.line());
  if (!text.empty()) text += ": ";
  text += fault.message();
  std::string extra = fault.field();
  if (!fault.value().empty()) absl::StrAppend(&extra, extra.empty() ? "" : " = ", "'", fault.value(), "'");
  if (!fault.expected().empty()) {
    absl::StrAppend(&extra, extra.empty() ? "" : ", ", "expected ", fault.expected());
  }
  if (!extra.empty()) absl::StrAppend(&text, " (", extra, ")");
  return text;
}

bool IsAboutFiles(const absl::Status& status) {
  const std::optional<v1::ErrorDetail> detail = DetailOf(status);
  if (!detail.has_value()) return false;
  return std::any_of(detail->faults().begin(), detail->faults().end(),
                     [](const v1::Fault& fault) { return !fault.file().empty(); });
}

uint64_t FaultsTotal(const v1::ErrorDetail& detail) {
  const auto given = static_cast<uint64_t>(detail.faults_size());
  uint64_t total = 0;
  const auto stated = detail.metadata().find("faults_total");
  const bool known = stated != detail.metadata().end() && absl::SimpleAtoi(stated->second, &total);
  return known ? std::max(total, given) : given;
}

std::string CodeName(absl::StatusCode code) { return absl::StatusCodeToString(code); }

absl::StatusCode CodeFromName(const std::string& name) {
  for (int code = 0; code <= static_cast<int>(absl::StatusCode::kUnauthenticated); ++code) {
    if (name == absl::StatusCodeToString(static_cast<absl::StatusCode>(code))) {
      return static_cast<absl::StatusCode>(code);
    }
  }
  return absl::StatusCode::kUnknown;
}

uint32_t RetryAfterSeconds(const absl::Status& status) {
  const std::optional<v1::ErrorDetail> detail = DetailOf(status);
  return detail.has_value() ? detail->retry_after_seconds() : 0;
}

}  // namespace sm89::client
