// What a user may give where a configuration is expected: a name on the server, or a file here.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/client.h"

namespace sm89::client {

// "configs/x" is always a name, another text with a '/' always a path; a bare word is a file if there is one.
bool IsConfigFile(const std::string& text);

// The text of a configuration file; errors say which file.
absl::StatusOr<std::string> ReadConfigFile(const std::string& path);

// The name to put into a job: "configs/{id}". A file is stored on the server first, under an id made of its
// name and the digest of its text, so that the same text is the same configuration.
absl::StatusOr<std::string> ConfigNameFor(Client& client, const std::string& text);

// "name=value" of each; all malformed ones are reported together.
absl::StatusOr<std::vector<v1::Override>> ParseOverrides(const std::string& option,
                                                         const std::vector<std::string>& pairs);

// The server knows an uploaded text by a label of its own ("text"): faults and warnings get the user's file
// name instead.
void NameFaults(const std::string& path, google::protobuf::RepeatedPtrField<v1::Fault>& faults);
void NameWarnings(const std::string& path, google::protobuf::RepeatedPtrField<std::string>& warnings);
absl::Status NameFaults(const std::string& path, const absl::Status& status);

}  // namespace sm89::client
