#include "sim/config/text_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/strings.h"

namespace sm89::settings {
namespace {

constexpr size_t kPrintableBytes = 200;
constexpr size_t kDistanceBytes = 128;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

uint64_t PowerOfTen(int digits) {
  uint64_t power = 1;
  for (int i = 0; i < digits; ++i) power *= 10;
  return power;
}

Problem TrailingText(std::string_view rest) {
  return {absl::StrCat("'", Av(Printable(rest)), "' follows the number"), "", {}};
}

Problem NotANumber(std::string_view text, std::string_view rest) {
  if (text.empty()) return {"the value is empty", "", {}};
  if (text.size() > 1 && text[0] == '-' && IsDigit(text[1]))
    return {"a negative value is not possible", "", {}};
  if (rest.size() == text.size()) return {"not a number", "", {}};
  const bool fraction = rest[0] == '.' && std::all_of(rest.begin() + 1, rest.end(), IsDigit);
  if (fraction) return {"a whole number is needed, not a fraction", "", {}};
  return TrailingText(rest);
}

Problem OutsideRange(const std::string& min, const std::string& max) {
  return {absl::StrCat("outside the range ", min, "..", max), "", {}};
}

// Bytes of the UTF-8 sequence at the start of `text`, 0 when there is no valid one.
size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and code points above U+10FFFF.
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) > 0x9F) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

}  // namespace

Outcome ReadUint(std::string_view text, uint64_t min, uint64_t max, uint64_t* out) {
  SM89_ASSERT(min <= max, "a range runs upwards");
  const bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const std::string_view digits = hex ? text.substr(2) : text;
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  const std::string_view rest = digits.substr(static_cast<size_t>(end - digits.data()));
  if (error == std::errc::invalid_argument) return NotANumber(text, text);
  if (!rest.empty()) return NotANumber(text, rest);
  if (error == std::errc::result_out_of_range || value < min || value > max) {
    return OutsideRange(absl::StrCat(min), absl::StrCat(max));
  }
  *out = value;
  return {};
}

Outcome ReadDecimal(std::string_view text, const DecimalRange& range, uint64_t* out) {
  uint64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  std::string_view rest = text.substr(static_cast<size_t>(end - text.data()));
  if (error == std::errc::invalid_argument) return NotANumber(text, text);
  std::string_view places;
  if (rest.size() > 1 && rest[0] == '.' && IsDigit(rest[1])) {
    const auto* stray = std::find_if_not(rest.begin() + 1, rest.end(), IsDigit);
    places = rest.substr(1, static_cast<size_t>(stray - rest.begin()) - 1);
    rest.remove_prefix(places.size() + 1);
  }
  if (!rest.empty()) return TrailingText(rest);
  while (!places.empty() && places.back() == '0') places.remove_suffix(1);
  if (places.size() > static_cast<size_t>(range.digits)) {
    return Problem{absl::StrCat("more than ", range.digits, " places behind the dot"), "", {}};
  }
  const uint64_t scale = PowerOfTen(range.digits);
  const Problem outside =
      OutsideRange(WriteDecimal(range.min, range.digits), WriteDecimal(range.max, range.digits));
  if (error == std::errc::result_out_of_range || whole > range.max / scale) return outside;
  uint64_t part = 0;
  for (const char c : places) part = part * 10 + static_cast<uint64_t>(c - '0');
  const uint64_t value = whole * scale + part * PowerOfTen(range.digits - static_cast<int>(places.size()));
  if (value < range.min || value > range.max) return outside;
  *out = value;
  return {};
}

std::string WriteDecimal(uint64_t scaled, int digits) {
  const uint64_t scale = PowerOfTen(digits);
  std::string text = absl::StrCat(scaled / scale);
  uint64_t part = scaled % scale;
  if (part == 0) return text;
  std::string places(static_cast<size_t>(digits), '0');
  for (auto it = places.rbegin(); it != places.rend(); ++it, part /= 10)
    *it = static_cast<char>('0' + part % 10);
  while (places.back() == '0') places.pop_back();
  return absl::StrCat(text, ".", places);
}

Outcome ReadBool(std::string_view text, bool* out) {
  if (text == "1" || text == "true") {
    *out = true;
  } else if (text == "0" || text == "false") {
    *out = false;
  } else {
    return Problem{"neither 0 nor 1", "", {}};
  }
  return {};
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (size_t at = 0;;) {
    const size_t end = text.find(separator, at);
    pieces.push_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos) return pieces;
    at = end + 1;
  }
}

std::string Printable(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const auto c = static_cast<unsigned char>(text[at]);
    const size_t length = Utf8Length(text.substr(at));
    if (out.size() + std::max<size_t>(length, 4) > kPrintableBytes) return out + "...";
    if (length == 0 || c < 0x20 || c == 0x7F) {
      out += {'\\', 'x', kHex[c >> 4], kHex[c & 15]};
      ++at;
    } else {
      out += text.substr(at, length);
      at += length;
    }
  }
  return out;
}

size_t EditDistance(std::string_view a, std::string_view b, size_t limit) {
  a = a.substr(0, kDistanceBytes);
  b = b.substr(0, kDistanceBytes);
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) >= limit) return limit;
  std::array<size_t, kDistanceBytes + 1> row;
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    size_t least = row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replace = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replace, row[j] + 1, row[j + 1] + 1});
      least = std::min(least, row[j + 1]);
    }
    if (least >= limit) return limit;  // rows never get smaller
  }
  return std::min(row[b.size()], limit);
}

}  // namespace sm89::settings
