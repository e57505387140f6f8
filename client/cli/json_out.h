// JSON for scripts: the protobuf JSON mapping of the API's messages with the field names of the .proto files,
// every field present. As that mapping has it, 64-bit integers are strings and enums are their names.
#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"

namespace sm89::client {

nlohmann::ordered_json ToJson(const google::protobuf::Message& message);

// Two blanks of indentation, a newline at the end.
std::string JsonText(const nlohmann::ordered_json& value);

// {"error":{"code":"NOT_FOUND","message":...,"detail":{...}}}
nlohmann::ordered_json ErrorToJson(const absl::Status& status);

}  // namespace sm89::client
