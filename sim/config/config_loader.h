// Reads a configuration layer by layer into one GpuConfig, remembering where each value came from.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/base/fault.h"
#include "sim/config/config.h"
#include "sim/config/config_source.h"
#include "sim/config/option_reader.h"
#include "sim/config/setting_row.h"

namespace sm89::settings {

// One load: Read the entry, then Override, then Finish. Not reusable.
class ConfigLoader {
 public:
  ConfigLoader(const ConfigOptions& options, IncludeScope scope);

  void Read(const Source& entry);
  void Override(std::span<const NamedOverride> overrides);
  // All faults together, or the configuration after the rules that bind several settings.
  absl::StatusOr<Config> Finish();

 private:
  // What is known of one setting so far.
  struct State {
    SettingOrigin origin;
    std::string text;  // as given; used for settings without an effect
    bool given = false;
    bool warned = false;  // "has no effect" was said
  };
  // A file being read; the stack of them is the chain of includes.
  struct Open {
    const Source* source;
    uint32_t line;                            // of the include that is being followed
    std::map<const Row*, uint32_t> set_here;  // line of the last value in this file
  };
  struct Place {
    std::string kind;
    std::string file;
    uint32_t line = 0;
  };

  void ReadSource(const Source& source);
  // Reads the option at `at` and returns the index behind its value.
  size_t ReadOption(const std::vector<Word>& words, size_t at);
  void Include(std::string_view written, uint32_t line);
  bool ClosesCycle(const Source& source, uint32_t line);
  void Assign(const Row& row, std::string_view value, const Place& place);
  void NoteNoEffect(const Row& row, std::string_view value, const Place& place);
  void NoteTwice(const Row& row, uint32_t line);
  void ReportUnknown(std::string_view name, const Place& place);
  void Report(Fault fault);
  void Warn(const Place& place, std::string message);
  bool Full() const;
  Place Here(uint32_t line) const;
  void CheckRulesOf(const GpuConfig& gpu);
  void NoteUnusedValues(const GpuConfig& gpu);
  std::vector<ResolvedSetting> Resolved() const;

  const ConfigOptions options_;
  const IncludeScope scope_;
  GpuConfig gpu_;
  std::vector<State> states_;  // by row
  std::vector<Open> stack_;
  std::vector<Fault> faults_;
  std::vector<ConfigWarning> warnings_;
  uint32_t options_read_ = 0;
  uint32_t suggestions_ = 0;
  size_t files_opened_ = 0;
  size_t bytes_read_ = 0;
};

}  // namespace sm89::settings
