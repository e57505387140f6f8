// Warnings that are about some kernels of a trace.
#pragma once

#include <string>
#include <vector>

namespace sm89 {

// "2 kernels (a, b) TEXT", "1 kernel (a) TEXT"; ten names at most. `text` begins with a blank.
std::string NamedKernels(const std::vector<std::string>& names, const std::string& text);

}  // namespace sm89
