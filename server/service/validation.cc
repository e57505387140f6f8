#include "server/service/validation.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/os/file_store.h"
#include "server/service/status_conversion.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"

namespace sm89 {
namespace {

constexpr size_t kShownBytes = 100;  // of a refused value
constexpr size_t kOverrideNameBytes = 128;
constexpr size_t kOverrideValueBytes = 4096;
constexpr std::string_view kUuidShape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

}  // namespace

absl::Status FieldError(std::string_view field, std::string_view value, std::string_view expected,
                        std::string_view message) {
  Fault fault;
  fault.field = std::string(field);
  fault.value = CleanText(value, kShownBytes);
  fault.expected = std::string(expected);
  fault.message = std::string(message);
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

absl::StatusOr<std::string> ParseName(std::string_view field, std::string_view name,
                                      std::string_view collection, bool (*is_id)(std::string_view)) {
  const std::string prefix = absl::StrCat(Av(collection), "/");
  if (name.substr(0, prefix.size()) == prefix && is_id(name.substr(prefix.size()))) {
    return std::string(name.substr(prefix.size()));
  }
  return FieldError(field, name, absl::StrCat(prefix, "{id}"), "not a resource name of this kind");
}

absl::Status CheckRequestId(std::string_view request_id) {
  if (request_id.empty()) return absl::OkStatus();
  bool fits = request_id.size() == kUuidShape.size();
  for (size_t i = 0; fits && i < kUuidShape.size(); ++i) {
    fits = kUuidShape[i] == '-' ? request_id[i] == '-'
                                : absl::ascii_isxdigit(static_cast<unsigned char>(request_id[i]));
  }
  if (fits) return absl::OkStatus();
  return FieldError("request_id", request_id, "a UUID or nothing", "the request id is not a UUID");
}

absl::Status CheckText(std::string_view field, std::string_view text, size_t max_bytes) {
  const bool control = std::any_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_iscntrl(static_cast<unsigned char>(c)) && c != '\n' && c != '\t' && c != '\r';
  });
  if (!control && text.size() <= max_bytes && IsValidUtf8(text)) return absl::OkStatus();
  return FieldError(field, "", absl::StrCat("UTF-8 text of at most ", max_bytes, " bytes"),
                    control ? "the text holds control characters" : "the text is too long or not UTF-8");
}

absl::StatusOr<uint32_t> CheckPageSize(int32_t page_size, uint32_t otherwise, uint32_t max) {
  if (page_size < 0) {
    return FieldError("page_size", absl::StrCat(page_size), "0 or more", "the page size is negative");
  }
  return page_size == 0 ? otherwise : std::min(static_cast<uint32_t>(page_size), max);
}

absl::Status CheckFieldMask(const google::protobuf::RepeatedPtrField<std::string>& paths,
                            const std::vector<std::string>& allowed) {
  const std::string expected = absl::StrJoin(allowed, ", ");
  if (paths.empty()) return FieldError("update_mask", "", expected, "the update mask is empty");
  for (const std::string& path : paths) {
    if (std::find(allowed.begin(), allowed.end(), path) == allowed.end()) {
      return FieldError("update_mask", path, expected, "this field cannot be updated");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<NamedOverride>> ToOverrides(
    std::string_view field, const google::protobuf::RepeatedPtrField<v1::Override>& overrides) {
  std::vector<NamedOverride> out;
  for (int i = 0; i < overrides.size(); ++i) {
    const std::string where = absl::StrCat(Av(field), "[", i, "]");
    RETURN_IF_ERROR(CheckText(where + ".name", overrides[i].name(), kOverrideNameBytes));
    RETURN_IF_ERROR(CheckText(where + ".value", overrides[i].value(), kOverrideValueBytes));
    out.push_back({overrides[i].name(), overrides[i].value()});
  }
  return out;
}

}  // namespace sm89
