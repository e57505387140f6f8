#include "sim/config/config_loader.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/digest.h"
#include "sim/base/strings.h"
#include "sim/config/validate.h"

namespace sm89::settings {
namespace {

constexpr size_t kMaxIncludeDepth = 32;
constexpr size_t kMaxFiles = 256;
constexpr size_t kMaxTotalBytes = size_t{16} << 20;
constexpr size_t kMaxFaults = 1000;
constexpr size_t kMaxWarnings = 1000;
// A search through the whole table each; more unknown names than this are not misspellings.
constexpr uint32_t kMaxSuggestions = 32;

bool IsInclude(std::string_view name) { return name == "-include" || name == "-config"; }

std::string Expected(const SettingInfo& info) {
  switch (info.type) {
    case SettingType::kUint:
    case SettingType::kInt:
      return absl::StrCat("a whole number ", info.range);
    case SettingType::kDouble:
      return absl::StrCat("a number ", info.range);
    default:
      return info.range;
  }
}

size_t IndexOf(const Row& row) { return static_cast<size_t>(&row - Table().data()); }

}  // namespace

ConfigLoader::ConfigLoader(const ConfigOptions& options, IncludeScope scope)
    : options_(options), scope_(scope), states_(Table().size()) {
  for (State& state : states_) state.origin.kind = "default";
}

void ConfigLoader::Read(const Source& entry) { ReadSource(entry); }

bool ConfigLoader::Full() const { return faults_.size() > kMaxFaults; }

void ConfigLoader::Report(Fault fault) {
  if (Full()) return;
  if (faults_.size() == kMaxFaults) {
    fault = {.file = fault.file,
             .line = fault.line,
             .message = absl::StrCat("more than ", kMaxFaults, " faults; reading stopped here")};
  }
  faults_.push_back(std::move(fault));
}

void ConfigLoader::Warn(const Place& place, std::string message) {
  if (warnings_.size() > kMaxWarnings) return;
  if (warnings_.size() == kMaxWarnings)
    message = absl::StrCat("more than ", kMaxWarnings, " warnings; the rest is left out");
  warnings_.push_back({place.file, place.line, std::move(message)});
}

ConfigLoader::Place ConfigLoader::Here(uint32_t line) const {
  SM89_ASSERT(!stack_.empty(), "a place in a file needs an open file");
  const Source& source = *stack_.back().source;
  return {source.embedded ? "preset" : "file", source.name, line};
}

void ConfigLoader::ReadSource(const Source& source) {
  const std::string shown = Printable(source.name);
  ++files_opened_;
  bytes_read_ += source.text.size();
  if (source.text.size() > kMaxSourceBytes) {
    Report({.file = shown, .message = absl::StrCat("larger than ", kMaxSourceBytes, " bytes")});
    return;
  }
  stack_.push_back({.source = &source, .line = 0, .set_here = {}});
  Words read = SplitWords(source.text, kMaxFaults);
  for (Fault& fault : read.faults) {
    fault.file = shown;
    Report(std::move(fault));
  }
  for (size_t at = 0; at < read.words.size() && !Full();) at = ReadOption(read.words, at);
  stack_.pop_back();
}

size_t ConfigLoader::ReadOption(const std::vector<Word>& words, size_t at) {
  const Word& name = words[at];
  const Place place = Here(name.line);
  if (!IsOptionName(name)) {
    if (!name.faulty) {
      Report({.file = Printable(place.file),
              .line = place.line,
              .value = Printable(name.text),
              .expected = "an option, which starts with '-'",
              .message = "text that belongs to no option"});
    }
    return at + 1;
  }
  ++options_read_;
  const Row* row = FindRow(name.text);
  if (row == nullptr && !IsInclude(name.text)) {
    if (!name.faulty) ReportUnknown(name.text, place);
    // Its values, however many, are not looked into.
    const auto next = std::find_if(words.begin() + static_cast<ptrdiff_t>(at) + 1, words.end(), IsOptionName);
    return static_cast<size_t>(next - words.begin());
  }
  const bool has_value = at + 1 < words.size() && !IsOptionName(words[at + 1]);
  if (!has_value) {
    Report({.file = Printable(place.file),
            .line = place.line,
            .field = name.text,
            .expected = row != nullptr ? Expected(row->info) : "a file name",
            .message = "an option without a value"});
    return at + 1;
  }
  const Word& value = words[at + 1];
  if (value.faulty) return at + 2;
  if (row == nullptr) {
    --options_read_;  // an include is not an option
    Include(value.text, name.line);
  } else {
    NoteTwice(*row, name.line);
    Assign(*row, value.text, place);
  }
  return at + 2;
}

void ConfigLoader::NoteTwice(const Row& row, uint32_t line) {
  const auto [it, first] = stack_.back().set_here.emplace(&row, line);
  if (first) return;
  Warn(Here(line), absl::StrCat(row.info.name, " is given on line ", it->second, " and again on line ", line,
                                " of the same file; the later value counts"));
  it->second = line;
}

void ConfigLoader::ReportUnknown(std::string_view name, const Place& place) {
  Fault fault{.file = Printable(place.file),
              .line = place.line,
              .field = Printable(name),
              .message = "unknown option"};
  const size_t equals = name.find('=');
  std::string_view nearest;
  if (equals != std::string_view::npos && FindRow(name.substr(0, equals)) != nullptr) {
    nearest = FindRow(name.substr(0, equals))->info.name;
    fault.expected = "a blank, not '=', between an option and its value";
  } else if (suggestions_ < kMaxSuggestions) {
    ++suggestions_;
    nearest = NearestName(name);
    if (!nearest.empty()) fault.message = absl::StrCat("unknown option; did you mean ", Av(nearest), "?");
  }
  if (!nearest.empty()) fault.facts.emplace_back("suggest", nearest);
  Report(std::move(fault));
}

void ConfigLoader::Include(std::string_view written, uint32_t line) {
  const Source& from = *stack_.back().source;
  Fault fault{.file = Printable(from.name), .line = line, .field = "-include", .value = Printable(written)};
  stack_.back().line = line;
  if (stack_.size() >= kMaxIncludeDepth || files_opened_ >= kMaxFiles || bytes_read_ > kMaxTotalBytes) {
    fault.message = absl::StrCat("too many includes: at most ", kMaxIncludeDepth, " deep, ", kMaxFiles,
                                 " files and ", kMaxTotalBytes, " bytes in all");
    return Report(std::move(fault));
  }
  const SourceOrProblem opened = OpenInclude(from, written, scope_);
  if (const auto* problem = std::get_if<SourceProblem>(&opened)) {
    fault.message = absl::StrCat("the included file ", problem->message, " (tried '",
                                 Av(Printable(problem->tried)), "')");
    fault.expected = "a readable file, relative to the including one";
    fault.facts = {{problem->not_found ? "missing" : "unreadable", Printable(written)},
                   {"tried", Printable(problem->tried)}};
    return Report(std::move(fault));
  }
  const auto& source = std::get<Source>(opened);
  if (!ClosesCycle(source, line)) ReadSource(source);
}

bool ConfigLoader::ClosesCycle(const Source& source, uint32_t line) {
  const auto start = std::find_if(stack_.begin(), stack_.end(),
                                  [&](const Open& open) { return open.source->identity == source.identity; });
  if (start == stack_.end()) return false;
  std::string files;
  std::string chain;
  for (auto it = start; it != stack_.end(); ++it) {
    const std::string name = Printable(it->source->name);
    absl::StrAppend(&files, name, ",");
    absl::StrAppend(&chain, chain.empty() ? "" : ", ", name, ":", it->line);
  }
  files += Printable(start->source->name);
  Report({.file = Printable(stack_.back().source->name),
          .line = line,
          .field = "-include",
          .value = Printable(source.name),
          .expected = "files that do not include each other",
          .message = absl::StrCat("the includes run in a circle: ", chain),
          .facts = {{"cycle", files}, {"chain", chain}}});
  return true;
}

void ConfigLoader::Assign(const Row& row, std::string_view value, const Place& place) {
  Outcome bad = row.binding.read(value, &gpu_);
  if (bad) {
    Report({.file = Printable(place.file),
            .line = place.line,
            .field = row.info.name,
            .value = Printable(value),
            .expected = bad->expected.empty() ? Expected(row.info) : bad->expected,
            .message = bad->message,
            .facts = std::move(bad->facts)});
    return;
  }
  State& state = states_[IndexOf(row)];
  state.origin = {place.kind, Printable(place.file), place.line};
  state.text = std::string(value);
  state.given = true;
  if (!row.info.has_effect) NoteNoEffect(row, value, place);
}

void ConfigLoader::NoteNoEffect(const Row& row, std::string_view value, const Place& place) {
  State& state = states_[IndexOf(row)];
  if (state.warned) return;
  state.warned = true;
  const std::string why = absl::StrCat(row.info.name, " has no effect: ", row.info.help);
  if (!options_.strict) return Warn(place, why);
  Report({.file = Printable(place.file),
          .line = place.line,
          .field = row.info.name,
          .value = Printable(value),
          .expected = "only options that have an effect (strict)",
          .message = why});
}

void ConfigLoader::Override(std::span<const NamedOverride> overrides) {
  for (size_t i = 0; i < overrides.size() && !Full(); ++i) {
    const std::string& written = overrides[i].name;
    const std::string name = !written.empty() && written[0] == '-' ? written : absl::StrCat("-", written);
    const Place place{"override", "override", static_cast<uint32_t>(i + 1)};
    if (const Row* row = FindRow(name)) {
      Assign(*row, overrides[i].value, place);
    } else {
      ReportUnknown(name, place);
    }
  }
}

void ConfigLoader::CheckRulesOf(const GpuConfig& gpu) {
  for (BrokenRule& rule : CheckRules(gpu)) {
    // The place of the first setting that somebody gave; all may be defaults only if the defaults are wrong.
    const Row* culprit = FindRow(rule.settings.front());
    for (auto it = rule.settings.rbegin(); it != rule.settings.rend(); ++it) {
      const Row* row = FindRow(*it);
      SM89_ASSERT(row != nullptr, "a rule names a setting that is not in the table");
      if (states_[IndexOf(*row)].given) culprit = row;
    }
    const State& state = states_[IndexOf(*culprit)];
    std::string names;
    for (const std::string_view name : rule.settings)
      absl::StrAppend(&names, names.empty() ? "" : ",", Av(name));
    Report({.file = state.origin.file,
            .line = state.origin.line,
            .field = culprit->info.name,
            .value = culprit->binding.write(gpu),
            .expected = std::move(rule.expected),
            .message = std::move(rule.message),
            .facts = {{"settings", names}}});
  }
}

void ConfigLoader::NoteUnusedValues(const GpuConfig& gpu) {
  for (const UnusedValue& note : UnusedValues(gpu)) {
    const Row* row = FindRow(note.setting);
    SM89_ASSERT(row != nullptr, "a note names a setting that is not in the table");
    const SettingOrigin& origin = states_[IndexOf(*row)].origin;
    const std::string message = absl::StrCat(row->info.name, ": ", note.message);
    if (!options_.strict) {
      Warn({origin.kind, origin.file, origin.line}, message);
      continue;
    }
    Report({.file = origin.file,
            .line = origin.line,
            .field = row->info.name,
            .value = row->binding.write(gpu),
            .expected = "only values that have an effect (strict)",
            .message = message});
  }
}

std::vector<ResolvedSetting> ConfigLoader::Resolved() const {
  std::vector<ResolvedSetting> settings;
  const auto table = Table();
  for (size_t i = 0; i < table.size(); ++i) {
    const State& state = states_[i];
    if (table[i].info.has_effect) {
      settings.push_back({table[i].info.name, table[i].binding.write(gpu_), state.origin});
    } else if (state.given) {
      settings.push_back({table[i].info.name, state.text, state.origin});
    }
  }
  return settings;
}

absl::StatusOr<Config> ConfigLoader::Finish() {
  SM89_ASSERT(stack_.empty(), "every file that was opened has been read to its end");
  DeriveMembers(&gpu_);
  // With a value missing, the rules would judge a default that nobody asked for.
  if (faults_.empty()) CheckRulesOf(gpu_);
  if (faults_.empty()) NoteUnusedValues(gpu_);
  if (!faults_.empty()) return InputError(absl::StatusCode::kInvalidArgument, "", faults_);
  // The sets that its text shows are then those of another setting.
  if (gpu_.l2.slice_capacity_kib != 0) {
    states_[IndexOf(*FindRow("-gpgpu_cache:dl2"))].origin =
        states_[IndexOf(*FindRow("-gpgpu_sm89_l2_slice_capacity_kb"))].origin;
  }
  Config config;
  config.gpu = gpu_;
  config.settings = Resolved();
  config.warnings = std::move(warnings_);
  config.options_read = options_read_;
  Sha256 digest;
  for (const Row& row : Table()) {
    if (row.info.has_effect) digest.Update(absl::StrCat(row.info.name, " ", row.binding.write(gpu_), "\n"));
  }
  config.digest = digest.FinishHex();
  return config;
}

}  // namespace sm89::settings

namespace sm89 {
namespace {

using settings::ConfigLoader;
using settings::IncludeScope;
using settings::Source;
using settings::SourceOrProblem;
using settings::SourceProblem;

std::string PresetNames() {
  std::string names;
  for (const PresetInfo& preset : Presets()) absl::StrAppend(&names, names.empty() ? "" : ", ", preset.name);
  return names;
}

absl::Status EntryError(const std::string& name, const SourceProblem& problem) {
  Fault fault{.file = settings::Printable(name), .message = problem.message};
  if (!problem.not_found) return InputError(absl::StatusCode::kInvalidArgument, fault);
  fault.message = "no configuration file and no preset of this name";
  fault.expected = absl::StrCat("a file, or a preset: ", PresetNames());
  fault.facts = {{"missing", settings::Printable(name)}};
  return InputError(absl::StatusCode::kNotFound, fault);
}

}  // namespace

absl::StatusOr<Config> LoadConfig(const std::string& name_or_path, std::span<const NamedOverride> overrides,
                                  const ConfigOptions& options) {
  ConfigLoader loader(options, IncludeScope::kFilesAndPresets);
  if (const auto* preset = settings::FindPreset(name_or_path)) {
    loader.Read(settings::FromEmbedded(*preset));
  } else {
    const SourceOrProblem opened = settings::OpenFile(name_or_path, name_or_path);
    if (const auto* problem = std::get_if<SourceProblem>(&opened)) return EntryError(name_or_path, *problem);
    loader.Read(std::get<Source>(opened));
  }
  loader.Override(overrides);
  return loader.Finish();
}

absl::StatusOr<Config> LoadConfigText(const std::string& file_label, std::string_view text,
                                      std::span<const NamedOverride> overrides,
                                      const ConfigOptions& options) {
  ConfigLoader loader(options, IncludeScope::kPresetsOnly);
  loader.Read({.name = file_label,
               .path = "",
               .identity = absl::StrCat("text:", file_label),
               .text = std::string(text)});
  loader.Override(overrides);
  return loader.Finish();
}

}  // namespace sm89
