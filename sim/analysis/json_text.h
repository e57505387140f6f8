// Pieces that the JSON renderings share.
#pragma once

#include <string>
#include <string_view>

#include "nlohmann/json.hpp"
#include "sim/analysis/code.h"

namespace sm89::analysis {

using Json = nlohmann::ordered_json;

// Deterministic bytes: keys in the order given; invalid UTF-8 becomes U+FFFD.
std::string Dump(const Json& json);
// {"file": ..., "line": ...}; null for line 0.
Json LineJson(const Code& code, const cubin::SourceLine& line);
// "0x01f0".
std::string PcText(uint64_t pc);
// What a terminal cannot take becomes '?': names come from files.
std::string Clean(std::string_view name);

}  // namespace sm89::analysis
