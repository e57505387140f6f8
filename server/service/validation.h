// Checks of request fields that all services share. Every refusal is INVALID_ARGUMENT with a fault that names
// the field.
#pragma once

#include <google/protobuf/repeated_ptr_field.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/config/config.h"
#include "sm89/v1/config.pb.h"

namespace sm89 {

absl::Status FieldError(std::string_view field, std::string_view value, std::string_view expected,
                        std::string_view message);

// "traces/abc" with collection "traces" -> "abc". The id must satisfy `is_id`.
absl::StatusOr<std::string> ParseName(std::string_view field, std::string_view name,
                                      std::string_view collection, bool (*is_id)(std::string_view));

// A UUID in its usual form, or empty.
absl::Status CheckRequestId(std::string_view request_id);

// Valid UTF-8 without control characters but newline and tab, at most `max_bytes`.
absl::Status CheckText(std::string_view field, std::string_view text, size_t max_bytes);

// 0 = `otherwise`; more than `max` becomes `max`; negative is refused.
absl::StatusOr<uint32_t> CheckPageSize(int32_t page_size, uint32_t otherwise, uint32_t max);

// Every path must be one of `allowed`, and there must be one.
absl::Status CheckFieldMask(const google::protobuf::RepeatedPtrField<std::string>& paths,
                            const std::vector<std::string>& allowed);

absl::StatusOr<std::vector<NamedOverride>> ToOverrides(
    std::string_view field, const google::protobuf::RepeatedPtrField<v1::Override>& overrides);

}  // namespace sm89
