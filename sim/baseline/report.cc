// What a baseline keeps of a report.
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "sim/base/digest.h"
#include "sim/base/strings.h"
#include "sim/baseline/baseline.h"

namespace sm89::baseline {
namespace {

using Json = nlohmann::json;

// Statistics and definitions are most of a report: they are skipped while it is read.
bool Keep(int /*depth*/, Json::parse_event_t event, Json& parsed) {
  if (event != Json::parse_event_t::key) return true;
  for (const char* skipped : {"statistics", "derived", "units", "definitions", "per_pc", "assumptions"}) {
    if (parsed == skipped) return false;
  }
  return true;
}

absl::Status NotAReport(const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("the result is not a report: ", why));
}

// Null when a part of the path is missing.
Json At(const Json& root, std::initializer_list<const char*> path) {
  const Json* at = &root;
  for (const char* key : path) {
    if (!at->is_object() || !at->contains(key)) return nullptr;
    at = &(*at)[key];
  }
  return *at;
}

std::string Text(const Json& root, std::initializer_list<const char*> path) {
  const Json value = At(root, path);
  return value.is_string() ? value.get<std::string>() : std::string();
}

// The trace's, and with machine code beside it that of all digests together.
std::string InputDigest(const Json& root) {
  std::string digest = Text(root, {"trace", "digest"});
  const Json code = At(root, {"trace", "machine_code"});
  if (!code.is_array() || code.empty()) return digest;
  for (const Json& file : code) absl::StrAppend(&digest, "\n", Text(file, {"digest"}));
  return Sha256Hex(digest);
}

}  // namespace

absl::StatusOr<Measurement> FromReport(std::string_view report_json) {
  const Json root = Json::parse(report_json, &Keep, /*allow_exceptions=*/false);
  if (root.is_discarded() || Text(root, {"format"}) != "sm89-report/1")
    return NotAReport("format sm89-report/1 expected");
  if (const std::string status = Text(root, {"status"}); status != "complete") {
    return absl::FailedPreconditionError(absl::StrCat("the simulation did not reach its end (", status, ": ",
                                                      Text(root, {"status_detail"}), ")"));
  }
  Measurement measured{.product_version = Text(root, {"product_version"}),
                       .model_version = Text(root, {"model_version"}),
                       .trace_digest = InputDigest(root),
                       .config_digest = Text(root, {"config", "digest"})};
  const Json kernels = At(root, {"kernels"});
  if (!kernels.is_array() || kernels.empty()) return NotAReport("no kernels");
  for (const Json& kernel : kernels) {
    const Json cycles = At(kernel, {"cycles"});
    if (!cycles.is_number_unsigned() || cycles.get<uint64_t>() == 0)
      return NotAReport("a kernel without cycles");
    measured.kernels.push_back({Text(kernel, {"name"}), cycles.get<uint64_t>()});
  }
  const Json total = At(root, {"totals", "cycles"});
  if (!total.is_number_unsigned() || total.get<uint64_t>() == 0) return NotAReport("no total of cycles");
  measured.total_cycles = total.get<uint64_t>();
  return measured;
}

}  // namespace sm89::baseline
