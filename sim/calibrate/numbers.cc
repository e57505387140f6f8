#include "sim/calibrate/numbers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/base/strings.h"

namespace sm89::calibrate {
namespace {

constexpr size_t kCellBytesMax = 64;

// Digits, both signs, a minus in front, and an exponent.
bool LooksLikeNumber(std::string_view cell) {
  if (cell.starts_with('-')) cell.remove_prefix(1);
  if (cell.empty() || cell.size() > kCellBytesMax ||
      std::isdigit(static_cast<unsigned char>(cell.front())) == 0)
    return false;
  return std::all_of(cell.begin(), cell.end(), [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.' || c == ',' || c == 'e' || c == 'E' ||
           c == '+' || c == '-';
  });
}

// The style that the only kind of sign in `cell` proves it to be a decimal sign (or a thousands sign) of.
std::optional<NumberStyle> StyleOfOneSign(std::string_view cell, char sign) {
  const NumberStyle as_decimal = sign == '.' ? NumberStyle::kPoint : NumberStyle::kComma;
  const NumberStyle as_thousands = sign == '.' ? NumberStyle::kComma : NumberStyle::kPoint;
  const size_t first = cell.find(sign);
  if (cell.find(sign, first + 1) != std::string_view::npos) return as_thousands;
  const size_t digits_before = first - (cell.starts_with('-') ? 1 : 0);
  const size_t digits_behind = cell.size() - first - 1;
  // "512.250" may be either; "5706.000" and "12.50" cannot be grouped thousands, nor can "0.123".
  const bool could_be_group = digits_behind == 3 && digits_before <= 3 && !cell.starts_with("0");
  if (could_be_group) return std::nullopt;
  return as_decimal;
}

// The digits in front of the decimal sign stand in groups of three, if in groups at all.
bool IsGrouped(std::string_view cell, char thousands) {
  if (cell.starts_with('-')) cell.remove_prefix(1);
  const char decimal = thousands == ',' ? '.' : ',';
  std::string_view whole = cell.substr(0, cell.find(decimal));
  if (cell.find(thousands, whole.size()) != std::string_view::npos) return false;
  bool first = true;
  for (size_t at = whole.find(thousands); at != std::string_view::npos; at = whole.find(thousands)) {
    if (at == 0 || at > 3 || (!first && at != 3)) return false;
    whole.remove_prefix(at + 1);
    first = false;
  }
  return first || whole.size() == 3;
}

struct UnitRow {
  std::string_view unit;
  double scale;
};

// In ns; nothing for what is no unit of time.
std::optional<double> TimeScale(std::string_view unit) {
  constexpr auto kTimes = std::to_array<UnitRow>({{"ns", 1},
                                                  {"nsecond", 1},
                                                  {"nsec", 1},
                                                  {"us", 1e3},
                                                  {"usecond", 1e3},
                                                  {"usec", 1e3},
                                                  {"ms", 1e6},
                                                  {"msecond", 1e6},
                                                  {"msec", 1e6},
                                                  {"s", 1e9},
                                                  {"second", 1e9},
                                                  {"sec", 1e9}});
  for (const UnitRow& row : kTimes) {
    if (unit == row.unit) return row.scale;
  }
  return std::nullopt;
}

}  // namespace

void NumberStyleVote::Add(std::string_view cell, uint64_t line) {
  if (!LooksLikeNumber(cell) || cell.find_first_of("eE") != std::string_view::npos) return;
  const size_t point = cell.rfind('.');
  const size_t comma = cell.rfind(',');
  std::optional<NumberStyle> style;
  if (point != std::string_view::npos && comma != std::string_view::npos) {
    style = point > comma ? NumberStyle::kPoint : NumberStyle::kComma;
  } else if (point != std::string_view::npos) {
    style = StyleOfOneSign(cell, '.');
  } else if (comma != std::string_view::npos) {
    style = StyleOfOneSign(cell, ',');
  }
  if (!style.has_value()) return;
  uint64_t& first = *style == NumberStyle::kPoint ? point_line_ : comma_line_;
  if (first == 0) first = line;
}

absl::StatusOr<NumberStyle> NumberStyleVote::Decide(const std::string& file) const {
  if (point_line_ != 0 && comma_line_ != 0) {
    return InputError(
        absl::StatusCode::kInvalidArgument,
        Fault{.file = file,
              .line = std::max(point_line_, comma_line_),
              .expected = absl::StrCat("numbers as on line ", std::min(point_line_, comma_line_)),
              .message = "decimal points and decimal commas in one file"});
  }
  return comma_line_ != 0 ? NumberStyle::kComma : NumberStyle::kPoint;
}

std::optional<double> ReadNumber(std::string_view cell, NumberStyle style) {
  const char thousands = style == NumberStyle::kPoint ? ',' : '.';
  if (!LooksLikeNumber(cell) || !IsGrouped(cell, thousands)) return std::nullopt;
  std::string plain;
  for (const char c : cell) {
    if (c != thousands) plain.push_back(c == ',' ? '.' : c);
  }
  double value = 0;
  if (!absl::SimpleAtod(plain, &value) || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool IsAbsent(std::string_view cell) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"", "-", "n/a", "N/A", "no data", "nan", "-nan", "inf", "-inf", "(!) n/a", "(!) nan", "(!) inf"});
  return std::find(kWords.begin(), kWords.end(), cell) != kWords.end();
}

bool IsTimeUnit(std::string_view unit) { return TimeScale(unit).has_value(); }

double UnitScale(std::string_view unit) {
  const size_t slash = unit.find('/');
  const std::string_view amount = unit.substr(0, slash);
  if (slash != std::string_view::npos) {
    const std::string_view per = unit.substr(slash + 1);
    // Rates are kept a second, whatever the base unit of durations.
    if (per == "ns" || per == "nsecond") return UnitScale(amount) * 1e9;
    if (per == "us" || per == "usecond") return UnitScale(amount) * 1e6;
    if (per == "ms" || per == "msecond") return UnitScale(amount) * 1e3;
    return UnitScale(amount);
  }
  if (const std::optional<double> time = TimeScale(amount)) return *time;
  if (amount.size() < 2) return 1;
  std::string rest(amount.substr(1));
  std::transform(rest.begin(), rest.end(), rest.begin(), [](unsigned char c) { return std::tolower(c); });
  const bool prefixed = rest == "byte" || rest == "bytes" || rest == "b" || rest == "hz" || rest == "inst" ||
                        rest == "sector" || rest == "cycle" || rest == "request";
  if (!prefixed) return 1;
  constexpr auto kPrefixes =
      std::to_array<UnitRow>({{"K", 1e3}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}});
  for (const UnitRow& row : kPrefixes) {
    if (amount.front() == row.unit.front()) return row.scale;
  }
  return 1;
}

}  // namespace sm89::calibrate
