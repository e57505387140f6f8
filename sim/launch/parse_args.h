// The "buffers" and "args" of one launch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/launch/launch.h"
#include "sim/launch/object_reader.h"

namespace sm89::launch {

// Reads both lists of `launch` into `spec`. `folder`: see ParseOptions.
void ParseBuffersAndArgs(ObjectReader& launch, const std::optional<std::string>& folder, LaunchSpec& spec);

}  // namespace sm89::launch
