#include "client/cli/format.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/error.h"

namespace sm89::client {
namespace {

absl::Status BadOption(const std::string& option, const std::string& value, const std::string& expected) {
  v1::Fault fault;
  fault.set_field(option);
  fault.set_value(value);
  fault.set_expected(expected);
  fault.set_message("not a value for this option");
  return InputError("OPTION_MALFORMED", absl::StrCat("cannot read ", option), {fault});
}

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

struct Unit {
  const char* name;  // lower case
  uint64_t factor;
};

// A decimal number and an optional unit of the table.
template <size_t N>
bool ParseWithUnit(const std::string& text, const std::array<Unit, N>& units, uint64_t max, uint64_t* value) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  uint64_t number = 0;
  if (!absl::SimpleAtoi(text.substr(0, digits), &number)) return false;
  const std::string unit = absl::AsciiStrToLower(text.substr(digits));
  for (const Unit& known : units) {
    if (unit != known.name) continue;
    if (number > max / known.factor) return false;
    *value = number * known.factor;
    return true;
  }
  return false;
}

int64_t NowNanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

std::string Printable(const std::string& text) {
  std::string clean = text;
  for (size_t i = 0; i < clean.size(); ++i) {
    const auto c = static_cast<unsigned char>(clean[i]);
    if (c < 0x20 || c == 0x7f) clean[i] = '?';
    // U+0080..U+009F, the second set of control characters: C2 80 .. C2 9F.
    if (c == 0xc2 && i + 1 < clean.size() && static_cast<unsigned char>(clean[i + 1]) < 0xa0) {
      clean.replace(i, 2, "?");
    }
  }
  return clean;
}

size_t DisplayWidth(const std::string& text) {
  size_t width = 0;
  for (const char c : text) width += IsContinuation(c) ? 0 : 1;
  return width;
}

std::string Shorten(const std::string& text, size_t columns) {
  std::string clean = Printable(text);
  if (DisplayWidth(clean) <= columns) return clean;
  constexpr size_t kDots = 3;
  const size_t keep = columns > kDots ? columns - kDots : 0;
  size_t at = 0;
  for (size_t seen = 0; at < clean.size(); ++at) {
    if (IsContinuation(clean[at])) continue;
    if (seen++ == keep) break;
  }
  return clean.substr(0, at) + std::string(std::min(kDots, columns), '.');
}

std::string HumanBytes(uint64_t bytes) {
  constexpr std::array<const char*, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0) return absl::StrCat(bytes, " B");
  return absl::StrFormat("%.1f %s", value, kUnits[unit]);
}

std::string HumanCount(double count) {
  constexpr std::array<const char*, 5> kUnits = {"", " k", " M", " G", " T"};
  size_t unit = 0;
  while (std::fabs(count) >= 1000 && unit + 1 < kUnits.size()) {
    count /= 1000;
    ++unit;
  }
  if (unit == 0) return absl::StrFormat("%.0f", count);
  return absl::StrFormat("%.2f%s", count, kUnits[unit]);
}

std::string HumanSeconds(double seconds) {
  if (!(seconds >= 0)) return "-";
  if (seconds < 10) return absl::StrFormat("%.1f s", seconds);
  if (seconds < 60) return absl::StrFormat("%.0f s", seconds);
  if (seconds > 1e10) return "-";
  const auto whole = static_cast<uint64_t>(seconds);
  if (whole < 3600) return absl::StrFormat("%dm%02ds", whole / 60, whole % 60);
  if (whole < 48 * 3600) return absl::StrFormat("%dh%02dm", whole / 3600, whole / 60 % 60);
  return absl::StrFormat("%dd%02dh", whole / 86400, whole / 3600 % 24);
}

std::string TimeText(const v1::Timestamp& time) {
  if (time.unix_nanos() <= 0) return "-";
  const std::time_t seconds = time.unix_nanos() / 1'000'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text.data(), size);
}

double AgeSeconds(const v1::Timestamp& time) {
  if (time.unix_nanos() <= 0) return -1;
  return std::max(0.0, static_cast<double>(NowNanos() - time.unix_nanos()) / 1e9);
}

double DurationSeconds(const v1::Job& job) {
  if (job.start_time().unix_nanos() <= 0) return -1;
  if (job.end_time().unix_nanos() <= 0) return AgeSeconds(job.start_time());
  return std::max(0.0,
                  static_cast<double>(job.end_time().unix_nanos() - job.start_time().unix_nanos()) / 1e9);
}

bool IsProgram(const v1::Trace& trace) {
  return std::any_of(trace.marks().begin(), trace.marks().end(),
                     [](const std::string& mark) { return mark.starts_with("emulated:"); });
}

std::string StateName(v1::Job::State state) {
  return v1::Job::State_IsValid(state) ? v1::Job::State_Name(state)
                                       : absl::StrCat("STATE_", static_cast<int>(state));
}

absl::StatusOr<uint64_t> ParseBytes(const std::string& option, const std::string& text) {
  constexpr std::array<Unit, 14> kUnits = {{{"", 1},
                                            {"b", 1},
                                            {"k", 1ull << 10},
                                            {"kb", 1ull << 10},
                                            {"kib", 1ull << 10},
                                            {"m", 1ull << 20},
                                            {"mb", 1ull << 20},
                                            {"mib", 1ull << 20},
                                            {"g", 1ull << 30},
                                            {"gb", 1ull << 30},
                                            {"gib", 1ull << 30},
                                            {"t", 1ull << 40},
                                            {"tb", 1ull << 40},
                                            {"tib", 1ull << 40}}};
  uint64_t bytes = 0;
  if (ParseWithUnit(text, kUnits, std::numeric_limits<uint64_t>::max(), &bytes)) return bytes;
  return BadOption(option, text, "a number of bytes such as 4G, 512M or 1000000");
}

absl::StatusOr<uint32_t> ParseSeconds(const std::string& option, const std::string& text) {
  constexpr std::array<Unit, 5> kUnits = {{{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}}};
  uint64_t seconds = 0;
  if (ParseWithUnit(text, kUnits, std::numeric_limits<uint32_t>::max(), &seconds)) {
    return static_cast<uint32_t>(seconds);
  }
  return BadOption(option, text, "a time such as 90, 90s, 15m, 2h or 1d");
}

absl::StatusOr<std::pair<std::string, std::string>> ParsePair(const std::string& option,
                                                              const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return BadOption(option, text, "name=value");
  return std::make_pair(text.substr(0, equals), text.substr(equals + 1));
}

absl::StatusOr<std::string> FullName(const std::string& collection, const std::string& name) {
  const std::string prefix = collection + "/";
  if (name.rfind(prefix, 0) == 0 && name.size() > prefix.size()) return name;
  if (name.empty() || name.find('/') != std::string::npos) {
    return BadOption("NAME", name, absl::StrCat(prefix, "ID, or the ID alone"));
  }
  return prefix + name;
}

std::string ShortName(const std::string& name) {
  const size_t slash = name.rfind('/');
  return slash == std::string::npos ? name : name.substr(slash + 1);
}

std::string NotANumber(const std::string& text) {
  return text.find_first_of("nN") == std::string::npos ? "" : text + " is not a number";
}

}  // namespace sm89::client
