#include "server/config/server_config.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "server/config/server_setting_row.h"
#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/base/strings.h"

namespace sm89 {
namespace {

constexpr size_t kLinesMax = 10'000;

struct Suffix {
  std::string_view unit;
  std::string_view text;
  uint64_t factor;
};
constexpr std::array<Suffix, 10> kSuffixes = {{
    {"bytes", "KiB", uint64_t{1} << 10},
    {"bytes", "MiB", uint64_t{1} << 20},
    {"bytes", "GiB", uint64_t{1} << 30},
    {"bytes", "TiB", uint64_t{1} << 40},
    {"s", "s", 1},
    {"s", "m", 60},
    {"s", "h", 3600},
    {"s", "d", 86400},
    {"ms", "ms", 1},
    {"ms", "s", 1000},
}};

// "64MiB", "64 MiB", "90", "2h".
std::optional<uint64_t> ParseNumber(std::string_view text, std::string_view unit) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  uint64_t number = 0;
  if (digits == 0 || !absl::SimpleAtoi(Av(text.substr(0, digits)), &number)) return std::nullopt;
  const std::string_view suffix = Sv(absl::StripLeadingAsciiWhitespace(Av(text.substr(digits))));
  if (suffix.empty()) return number;
  for (const Suffix& s : kSuffixes) {
    if (s.unit != unit || s.text != suffix) continue;
    if (number > ~uint64_t{0} / s.factor) return std::nullopt;
    return number * s.factor;
  }
  return std::nullopt;
}

std::string RangeText(const ServerSettingInfo& info) {
  if (info.type == ServerSettingType::kChoice) return absl::StrCat("one of ", Av(info.choices));
  if (info.type == ServerSettingType::kString) return "text";
  if (info.type == ServerSettingType::kAddress) return "host:port, such as 127.0.0.1:8989, or nothing";
  std::string text = absl::StrCat("a whole number, ", info.min, "..", info.max);
  if (!info.unit.empty()) absl::StrAppend(&text, " ", Av(info.unit));
  return text;
}

// A host that is no number is looked up when it is listened on.
bool IsHostAndPort(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view port = text.substr(colon + 1);
  uint32_t number = 0;
  return port.find_first_not_of("0123456789") == std::string_view::npos &&
         absl::SimpleAtoi(Av(port), &number) && number <= 65'535;
}

// False when `value` does not fit.
bool Set(const ServerSettingRow& row, std::string_view value, ServerConfig* config) {
  if (row.info.type == ServerSettingType::kNumber) {
    const std::optional<uint64_t> number = ParseNumber(value, row.info.unit);
    if (!number || *number < row.info.min || *number > row.info.max) return false;
    row.number(*config) = *number;
    return true;
  }
  if (row.info.type == ServerSettingType::kChoice) {
    const std::vector<absl::string_view> choices = absl::StrSplit(Av(row.info.choices), ',');
    if (std::find(choices.begin(), choices.end(), Av(value)) == choices.end()) return false;
  }
  if (row.info.type == ServerSettingType::kAddress && !value.empty() && !IsHostAndPort(value)) return false;
  // A control character in a path or an address is never meant.
  if (std::any_of(value.begin(), value.end(), [](char c) { return absl::ascii_iscntrl(c); })) return false;
  row.text(*config) = std::string(value);
  return true;
}

const ServerSettingRow* FindRow(std::string_view name) {
  for (const ServerSettingRow& row : ServerSettingRows()) {
    if (row.info.name == name) return &row;
  }
  return nullptr;
}

// Where a value stands, for messages.
struct Place {
  std::string file;
  uint64_t line = 0;
};

class Parser {
 public:
  void ReadFile(const std::string& label, std::string_view text) {
    uint64_t line_number = 0;
    for (const absl::string_view raw : absl::StrSplit(Av(text), '\n')) {
      const Place place{label, ++line_number};
      if (line_number > kLinesMax) {
        Add(place, "", "", absl::StrCat("at most ", kLinesMax, " lines"), "the file is too long");
        return;
      }
      const absl::string_view line =
          absl::StripAsciiWhitespace(raw.substr(0, std::min(raw.find('#'), raw.size())));
      if (!line.empty()) ReadLine(place, Sv(line));
    }
  }

  void Apply(const Place& place, const std::string& name, std::string_view value) {
    const ServerSettingRow* row = FindRow(name);
    if (row == nullptr) {
      Add(place, name, "", "a name that --help lists", "unknown setting");
    } else if (!Set(*row, value, &config_)) {
      Add(place, name, std::string(value), RangeText(row->info), "bad value");
    }
  }

  void RequireNotAbove(std::string_view low_name, uint64_t low, std::string_view high_name, uint64_t high) {
    if (low <= high) return;
    Add({}, std::string(low_name), absl::StrCat(low),
        absl::StrCat("at most ", Av(high_name), " (", high, ")"), "the settings contradict each other");
  }

  void CheckRelations() {
    const JobSettings& jobs = config_.jobs;
    RequireNotAbove("default_wall_seconds", jobs.default_wall_seconds, "max_wall_seconds",
                    jobs.max_wall_seconds);
    RequireNotAbove("default_memory_bytes", jobs.default_memory_bytes, "max_memory_bytes",
                    jobs.max_memory_bytes);
    if (jobs.max_cycles != 0) {
      RequireNotAbove("default_cycles", jobs.default_cycles, "max_cycles", jobs.max_cycles);
    }
    RequireNotAbove("three times heartbeat_ms", 3 * config_.pool.heartbeat_ms, "lease_ms",
                    config_.pool.lease_ms);
    if (config_.data_dir.empty()) Add({}, "data_dir", "", "a folder", "the data folder has no name");
  }

  absl::StatusOr<ServerConfig> Finish() {
    if (!faults_.empty()) return InputError(absl::StatusCode::kInvalidArgument, "", faults_);
    return std::move(config_);
  }

 private:
  void ReadLine(const Place& place, std::string_view line) {
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      Add(place, "", std::string(line), "key = value", "not a setting");
      return;
    }
    const std::string name(absl::StripAsciiWhitespace(Av(line.substr(0, equals))));
    const auto [first, is_new] = lines_.emplace(name, place.line);
    if (!is_new) {
      Add(place, name, "", "each setting once", absl::StrCat("already set in line ", first->second));
      return;
    }
    Apply(place, name, Sv(absl::StripAsciiWhitespace(Av(line.substr(equals + 1)))));
  }

  void Add(const Place& place, std::string field, std::string value, std::string expected,
           std::string message) {
    Fault fault;
    fault.file = place.file;
    fault.line = place.line;
    fault.field = std::move(field);
    fault.value = std::move(value);
    fault.expected = std::move(expected);
    fault.message = std::move(message);
    faults_.push_back(std::move(fault));
  }

  ServerConfig config_;
  std::map<std::string, uint64_t> lines_;
  std::vector<Fault> faults_;
};

std::string ValueText(const ServerSettingRow& row, const ServerConfig& config) {
  // The accessors are written once, for both directions; reading does not change the object.
  auto& readable = const_cast<ServerConfig&>(config);
  return row.number != nullptr ? absl::StrCat(row.number(readable)) : row.text(readable);
}

}  // namespace

ServerConfig::ServerConfig() {
  for (const ServerSettingRow& row : ServerSettingRows()) {
    SM89_ASSERT(Set(row, row.info.default_value, this), "a default fits its own row");
  }
}

std::string ServerConfig::UnixSocketPath() const {
  return listen.unix_socket.empty() ? data_dir + "/sm89.sock" : listen.unix_socket;
}

absl::StatusOr<ServerConfig> ParseServerConfig(const std::string& file_label, std::string_view text,
                                               std::span<const ServerSettingValue> flags) {
  Parser parser;
  parser.ReadFile(file_label, text);
  for (const ServerSettingValue& flag : flags) {
    parser.Apply({}, absl::StrReplaceAll(flag.name, {{"-", "_"}}), flag.value);
  }
  parser.CheckRelations();
  return parser.Finish();
}

std::string DumpServerConfig(const ServerConfig& config) {
  std::string out;
  for (const ServerSettingRow& row : ServerSettingRows()) {
    absl::StrAppend(&out, Av(row.info.name), " = ", ValueText(row, config), "\n");
  }
  return out;
}

std::string ServerConfigHelp() {
  std::string out;
  for (const ServerSettingInfo& info : ServerSettings()) {
    absl::StrAppend(&out, "  ", Av(info.name), " (", RangeText(info), "; default ",
                    info.default_value.empty() ? "empty" : Av(info.default_value), ")\n      ", Av(info.help),
                    "\n");
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> ServerLimits(const ServerConfig& config) {
  std::vector<std::pair<std::string, std::string>> limits;
  for (const ServerSettingRow& row : ServerSettingRows()) {
    if (row.info.is_limit) limits.emplace_back(std::string(row.info.name), ValueText(row, config));
  }
  return limits;
}

}  // namespace sm89
