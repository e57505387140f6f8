// Everything that is shown of a configuration or of the settings table.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/base/strings.h"
#include "sim/config/config.h"
#include "sim/config/config_source.h"
#include "sim/config/text_value.h"

namespace sm89 {
namespace {

constexpr std::string_view kPresetMark = "# preset: ";
constexpr std::string_view kEverySetting = "sm89";
constexpr std::string_view kCompatibilityGroup = "compatibility";
constexpr size_t kHelpColumns = 100;

std::string OriginText(const SettingOrigin& origin) {
  if (origin.kind == "default" || origin.kind == "override") return origin.kind;
  return absl::StrCat(origin.kind, " ", origin.file, ":", origin.line);
}

// As the reader takes it back: in quotes when blanks, a leading '-' or nothing would be misread.
std::string Quoted(const std::string& value) {
  const bool name_like =
      value.size() > 1 && value[0] == '-' && value[1] != '.' && (value[1] < '0' || value[1] > '9');
  const bool plain = !value.empty() && value != "-" && !name_like && value.find(' ') == std::string::npos;
  return plain ? value : absl::StrCat("\"", value, "\"");
}

std::string_view TypeName(SettingType type) {
  switch (type) {
    case SettingType::kUint:
      return "unsigned integer";
    case SettingType::kInt:
      return "integer";
    case SettingType::kBool:
      return "boolean";
    case SettingType::kDouble:
      return "decimal";
    case SettingType::kEnum:
      return "choice";
    case SettingType::kCacheString:
      return "cache string";
    case SettingType::kClockDomains:
      return "clocks";
    case SettingType::kList:
      return "list";
    case SettingType::kString:
      return "text";
  }
  return "";
}

// A cell of a Markdown table: a bar would end it.
std::string Cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    // Angle brackets would be taken for markup.
    if (c == '<') out += "&lt;";
    if (c != '<') out += c;
  }
  return out;
}

std::vector<std::string> Groups() {
  std::vector<std::string> groups;
  for (const SettingInfo& info : SettingsSchema()) {
    if (std::find(groups.begin(), groups.end(), info.group) == groups.end()) groups.push_back(info.group);
  }
  return groups;
}

std::string NamesWithAliases(const SettingInfo& info) {
  std::string out = absl::StrCat("`", info.name, "`");
  for (const std::string& alias : info.aliases) absl::StrAppend(&out, ", `", alias, "`");
  return out;
}

void AppendGroupTable(const std::string& group, std::string* out) {
  absl::StrAppend(out, "\n## ", group, "\n\n| setting | type | unit | range | default | meaning | source |\n",
                  "|---|---|---|---|---|---|---|\n");
  for (const SettingInfo& info : SettingsSchema()) {
    if (info.group != group || !info.has_effect) continue;
    absl::StrAppend(out, "| ", NamesWithAliases(info), " | ", Av(TypeName(info.type)), " | ", Cell(info.unit),
                    " | ", Cell(info.range));
    absl::StrAppend(out, " | `", Cell(info.default_value), "` | ", Cell(info.help), " | ", Cell(info.source),
                    " |\n");
  }
}

void AppendIgnoredNames(std::string* out) {
  absl::StrAppend(
      out, "\n## Names without an effect\n\n",
      "Options of GPGPU-Sim and Accel-Sim that are accepted with a warning, or refused when strict.\n");
  std::vector<std::string> reasons;
  for (const SettingInfo& info : SettingsSchema()) {
    if (info.has_effect || std::find(reasons.begin(), reasons.end(), info.help) != reasons.end()) continue;
    reasons.push_back(info.help);
  }
  for (const std::string& reason : reasons) {
    absl::StrAppend(out, "\n", Cell(reason), ":\n\n");
    for (const SettingInfo& info : SettingsSchema()) {
      if (!info.has_effect && info.help == reason) absl::StrAppend(out, "- `", info.name, "`\n");
    }
  }
}

// Words of `text` in lines of kHelpColumns, each indented.
void AppendWrapped(std::string_view text, std::string* out) {
  constexpr std::string_view kIndent = "      ";
  std::string line(kIndent);
  for (const std::string_view word : settings::Split(text, ' ')) {
    if (line.size() > kIndent.size() && line.size() + 1 + word.size() > kHelpColumns) {
      absl::StrAppend(out, line, "\n");
      line = kIndent;
    }
    absl::StrAppend(&line, line.size() > kIndent.size() ? " " : "", Av(word));
  }
  absl::StrAppend(out, line, "\n");
}

void AppendSettingHelp(const SettingInfo& info, std::string* out) {
  absl::StrAppend(out, "  ", info.name);
  for (const std::string& alias : info.aliases) absl::StrAppend(out, ", ", alias);
  absl::StrAppend(out, "\n");
  AppendWrapped(info.help, out);
  std::string facts = absl::StrCat("Default: ", info.default_value, ". Range: ", info.range, ".");
  if (!info.unit.empty()) absl::StrAppend(&facts, " Unit: ", info.unit, ".");
  AppendWrapped(facts, out);
  AppendWrapped(absl::StrCat("Source: ", info.source, "."), out);
}

void AppendGroupHelp(const std::string& group, std::string* out) {
  absl::StrAppend(out, group, ":\n");
  for (const SettingInfo& info : SettingsSchema()) {
    if (info.group != group) continue;
    if (info.has_effect) {
      AppendSettingHelp(info, out);
    } else {
      absl::StrAppend(out, "  ", info.name, "\n");
      AppendWrapped(absl::StrCat("No effect: ", info.help, "."), out);
    }
  }
}

std::string Description(std::string_view text) {
  if (text.substr(0, kPresetMark.size()) != kPresetMark) return "";
  text.remove_prefix(kPresetMark.size());
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

std::vector<PresetInfo> Presets() {
  std::vector<PresetInfo> presets;
  for (const settings::EmbeddedFile& file : settings::EmbeddedFiles()) {
    const std::string_view folder = file.path.substr(0, file.path.find('/'));
    const settings::EmbeddedFile* entry = settings::FindPreset(folder);
    if (entry == &file) presets.push_back({std::string(folder), Description(file.text)});
  }
  return presets;
}

absl::StatusOr<std::string> PresetText(std::string_view name) {
  if (const settings::EmbeddedFile* preset = settings::FindPreset(name)) return std::string(preset->text);
  return InputError(
      absl::StatusCode::kNotFound,
      {.field = "preset", .value = settings::Printable(name), .message = "there is no preset of this name"});
}

std::string DumpConfig(const Config& config) {
  std::string out = absl::StrCat("# digest ", config.digest, "\n");
  for (const ResolvedSetting& setting : config.settings) {
    absl::StrAppend(&out, setting.name, " ", Quoted(setting.value), "  # ", OriginText(setting.origin), "\n");
  }
  return out;
}

std::string ConfigToJson(const Config& config) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const ResolvedSetting& setting : config.settings) {
    Json origin = {{"kind", setting.origin.kind}};
    if (!setting.origin.file.empty()) origin["file"] = setting.origin.file;
    if (setting.origin.line != 0) origin["line"] = setting.origin.line;
    list.push_back({{"name", setting.name}, {"value", setting.value}, {"origin", std::move(origin)}});
  }
  const Json json = {{"digest", config.digest}, {"settings", std::move(list)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::vector<ConfigDifference> DiffConfigs(const Config& left, const Config& right) {
  std::map<std::string_view, std::string_view> left_values;
  std::map<std::string_view, std::string_view> right_values;
  for (const ResolvedSetting& s : left.settings) left_values[s.name] = s.value;
  for (const ResolvedSetting& s : right.settings) right_values[s.name] = s.value;
  std::vector<ConfigDifference> differences;
  for (const SettingInfo& info : SettingsSchema()) {
    const std::string_view a = left_values[info.name];
    const std::string_view b = right_values[info.name];
    if (a != b) differences.push_back({info.name, std::string(a), std::string(b)});
  }
  return differences;
}

std::string SettingsMarkdown() {
  std::string out =
      "# Settings\n\n"
      "Generated by `sm89-settings-doc` from the settings table (`sim/config/settings_*.cc`); do not edit.\n"
      "Defaults are those of an RTX 4090. Where they come from stands in the last column; an assumption is "
      "called one.\n";
  for (const std::string& group : Groups()) {
    if (group != kCompatibilityGroup) AppendGroupTable(group, &out);
  }
  AppendIgnoredNames(&out);
  return out;
}

std::string SettingsHelp(std::string_view group) {
  std::string out;
  const std::vector<std::string> groups = Groups();
  const bool every = group == kEverySetting;
  if (every) {
    out = "presets:\n";
    for (const PresetInfo& preset : Presets()) {
      absl::StrAppend(&out, "  ", preset.name, "\n");
      AppendWrapped(preset.description, &out);
    }
  }
  for (const std::string& name : groups) {
    if (group.empty() || group == name || (every && name != kCompatibilityGroup)) AppendGroupHelp(name, &out);
  }
  if (!out.empty()) return out;
  absl::StrAppend(&out, "no group '", Av(settings::Printable(group)), "'; groups:");
  for (const std::string& name : groups) absl::StrAppend(&out, " ", name);
  return out + "\n";
}

}  // namespace sm89
