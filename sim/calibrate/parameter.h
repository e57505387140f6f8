// Settings that a calibration may change, as whole numbers between bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace sm89::calibrate {

// What the table of settings and a configuration say of a setting.
struct SettingFact {
  std::string name;  // "-gpgpu_sm89_l2_latency"
  std::string unit;  // "cycles"
  std::string
      range;  // "1..10000", "0..100, at most 1 place(s) behind the dot", "latency,interval, each 1..10000"
  std::string source;
  std::string value;  // in the configuration that is calibrated
};

// A parameter as it is asked for: "-gpgpu_sm89_l2_latency", "gpgpu_sm89_l2_latency=40:200",
// "-trace_opcode_latency_initiation_sfu:latency".
struct ParameterSpec {
  std::string name;  // with the leading '-'
  int part = -1;     // of "latency,interval": 0, 1; -1 = the whole value
  std::optional<double> min, max;
};
absl::StatusOr<ParameterSpec> ParseParameterSpec(const std::string& text);

// The parameters that are offered when none is named, each with what it moves. CALIBRATE.md shows the list.
struct OfferedParameter {
  std::string_view name;
  int part = -1;
  std::string_view moves;
};
std::span<const OfferedParameter> OfferedParameters();

// Values count in steps of 10^-digits of the setting's unit.
struct Parameter {
  std::string name;
  int part = -1;
  std::string unit, source;
  std::string text;  // the whole value in the configuration that is calibrated
  int digits = 0;
  bool power_of_two = false;
  int64_t start = 0, min = 0, max = 0;
  // The settings table gives no measurement and no document for it: calibration is its only source.
  bool assumed = false;

  std::string label() const;                   // "-name" or "-name:latency"
  std::string ValueText(int64_t value) const;  // "86.5"
};

// Without bounds of its own a parameter may move between a quarter and four times its start, inside the
// setting's range. NOT_FOUND for a setting that there is not, INVALID_ARGUMENT for one that is no number or
// for bounds that its range does not allow or that leave out its present value.
absl::StatusOr<Parameter> MakeParameter(const ParameterSpec& spec, std::span<const SettingFact> settings);

inline constexpr size_t kParametersMax = 500;

// Parameters for `specs`; without any, those that are offered and that this configuration has room for.
// ALREADY_EXISTS for one that is named twice.
absl::StatusOr<std::vector<Parameter>> MakeParameters(std::span<const ParameterSpec> specs,
                                                      std::span<const SettingFact> settings);

// Settings for parameters at `values`, those at their start left out; both parts of a setting in one.
std::vector<std::pair<std::string, std::string>> SettingsFor(std::span<const Parameter> parameters,
                                                             std::span<const int64_t> values);

}  // namespace sm89::calibrate
