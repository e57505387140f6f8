// What is wrong with an input, in a form that people, the CLI, JSON and gRPC error details share.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace sm89 {

// One fault of one input. Empty strings and line 0 mean "not applicable".
struct Fault {
  std::string file;      // name as the user wrote it (plain name inside its folder, or a path)
  uint64_t line = 0;     // 1-based
  std::string field;     // key, option or column
  std::string value;     // what was found
  std::string expected;  // what would have been right
  std::string message;   // one sentence for people; never empty
  // Machine-readable extras in a fixed order, e.g. {"want_addresses","4"}.
  std::vector<std::pair<std::string, std::string>> facts;
};

// "file:line: message (field F = 'value', expected E)".
std::string FormatFault(const Fault& fault);

// A status with `code` whose message lists the faults (the first 20 in full, then "and N more") and whose
// payload carries up to 1,000 of them. `summary` may be empty: then the first fault's text leads.
absl::Status InputError(absl::StatusCode code, const std::string& summary, const std::vector<Fault>& faults);
absl::Status InputError(absl::StatusCode code, const Fault& fault);

// The faults carried by a status made by InputError (or by StatusFromJson); empty otherwise.
std::vector<Fault> FaultsOf(const absl::Status& status);

// {"code":"INVALID_ARGUMENT","message":...,"faults":[...]}: how a child process hands its error on.
std::string StatusToJson(const absl::Status& status);
// Inverse; anything that is not such a JSON text becomes INTERNAL with the text in the message.
absl::Status StatusFromJson(const std::string& json);

}  // namespace sm89
