// Reading configurations: presets built into the program, files, text and name=value overrides.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/config/gpu_config.h"

namespace sm89 {

enum class SettingType { kUint, kInt, kBool, kDouble, kEnum, kCacheString, kClockDomains, kList, kString };

// Everything there is to say of a setting; the one definition is the table in settings.cc.
struct SettingInfo {
  std::string name;                  // "-gpgpu_n_clusters"
  std::vector<std::string> aliases;  // other spellings accepted
  SettingType type = SettingType::kUint;
  std::string unit;   // "cycles", "bytes", "KiB", "" ...
  std::string range;  // "1..1024", "one of 0,1,2", "N:..." pattern
  std::string default_value;
  std::string help;
  std::string source;      // paper, measurement, vendor document, or "assumption"
  std::string group;       // "sm", "l1", "l2", "dram", ...
  bool has_effect = true;  // false: accepted for compatibility; `help` says why it has none
};

// Where a value came from.
struct SettingOrigin {
  std::string kind;  // "default", "preset", "file", "override"
  std::string file;  // name as reached through the includes ("../sm89/x.cfg" resolved to "sm89/x.cfg")
  uint32_t line = 0;
};

struct ResolvedSetting {
  std::string name;
  std::string value;  // canonical text
  SettingOrigin origin;
};

struct ConfigWarning {
  std::string file;
  uint32_t line = 0;
  std::string message;
};

// Immutable after Load.
struct Config {
  GpuConfig gpu;
  // Every setting that has an effect, and those without one that an input gave; table order.
  std::vector<ResolvedSetting> settings;
  std::vector<ConfigWarning> warnings;
  std::string digest;         // SHA-256 of the canonical "-name value\n" lines of the settings
                              // that have an effect
  uint32_t options_read = 0;  // options met in files, before overriding
};

struct ConfigOptions {
  bool strict = false;  // options without an effect are errors
};

struct NamedOverride {
  std::string name;  // with or without the leading '-'
  std::string value;
};

// Names of the presets built into the program ("RTX4090", ...), each with a one-line description.
struct PresetInfo {
  std::string name;
  std::string description;
};
std::vector<PresetInfo> Presets();

// A preset's entry text as it is embedded (its includes are embedded too).
absl::StatusOr<std::string> PresetText(std::string_view name);

// `name_or_path`: a preset's name, else a file. All faults of all files and overrides are reported together
// (InputError, INVALID_ARGUMENT; NOT_FOUND for an absent entry file).
absl::StatusOr<Config> LoadConfig(const std::string& name_or_path, std::span<const NamedOverride> overrides,
                                  const ConfigOptions& options);

// A configuration given as text (uploaded): "-include NAME" may name presets' embedded files only.
absl::StatusOr<Config> LoadConfigText(const std::string& file_label, std::string_view text,
                                      std::span<const NamedOverride> overrides, const ConfigOptions& options);

// The whole table, in order.
std::span<const SettingInfo> SettingsSchema();

// Canonical "-name value  # origin" dump, one setting a line.
std::string DumpConfig(const Config& config);
// Machine-readable: {"digest":..,"settings":[{name,value,origin:{...}}]}.
std::string ConfigToJson(const Config& config);

struct ConfigDifference {
  std::string name, left, right;
};
std::vector<ConfigDifference> DiffConfigs(const Config& left, const Config& right);

// SETTINGS.md text.
std::string SettingsMarkdown();
// `sm89-sim --help GROUP` text; empty = all groups; "sm89" = the presets, and every setting that has an
// effect.
std::string SettingsHelp(std::string_view group);

}  // namespace sm89
