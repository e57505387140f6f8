// Rules that bind several settings together. Each value on its own has been checked before.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/config/gpu_config.h"

namespace sm89::settings {

struct BrokenRule {
  std::vector<std::string_view> settings;  // names that take part, the most likely culprit first
  std::string message;
  std::string expected;
};

// Every rule that `gpu` breaks; empty = a run may start.
std::vector<BrokenRule> CheckRules(const GpuConfig& gpu);

// A value that the model does not look at yet, although the setting has an effect.
struct UnusedValue {
  std::string_view setting;
  std::string message;
};

// Empty for the defaults. An entry goes when the model learns to use its value.
std::vector<UnusedValue> UnusedValues(const GpuConfig& gpu);

}  // namespace sm89::settings
