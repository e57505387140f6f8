// The JSON values that sm89-trace's outputs share.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sim/tools/trace_output.h"

namespace sm89 {

using TraceJson = nlohmann::ordered_json;

// Bytes that are not UTF-8 become U+FFFD.
std::string JsonText(const TraceJson& value);

TraceJson KernelJson(uint32_t position, const KernelInfo& kernel);
// Version, name, digest, marks: the members that every document starts with.
TraceJson HeadJson(const TraceHead& head);

}  // namespace sm89
