#include "client/cli/json_out.h"

#include <google/protobuf/util/json_util.h>

#include <optional>

#include "client/error.h"

namespace sm89::client {

nlohmann::ordered_json ToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto status = google::protobuf::util::MessageToJsonString(message, &text, options);
  if (!status.ok()) return nlohmann::ordered_json::object();
  return nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
}

std::string JsonText(const nlohmann::ordered_json& value) {
  return value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

nlohmann::ordered_json ErrorToJson(const absl::Status& status) {
  nlohmann::ordered_json error;
  error["code"] = CodeName(status.code());
  error["message"] = std::string(status.message());
  if (const std::optional<v1::ErrorDetail> detail = DetailOf(status)) error["detail"] = ToJson(*detail);
  return {{"error", error}};
}

}  // namespace sm89::client
