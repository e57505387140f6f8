// Whether a launch's arguments fit the kernel's parameters.
#pragma once

#include <vector>

#include "sim/base/fault.h"
#include "sim/launch/launch.h"

namespace sm89::launch {

// Number, sizes and alignment against the cubin's KPARAM_INFO records; each fault names its argument.
std::vector<Fault> FaultsOfArgs(const cubin::Function& function, const LaunchSpec& spec);

}  // namespace sm89::launch
