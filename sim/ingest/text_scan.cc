#include "sim/ingest/text_scan.h"

#include <charconv>
#include <limits>

#include "absl/strings/str_cat.h"

namespace sm89 {
namespace {

template <class T>
std::optional<T> ParseWhole(std::string_view s, int base) {
  T value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value, base);
  if (error != std::errc() || end != s.data() + s.size() || s.empty()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<uint64_t> ParseUnsigned(std::string_view s) { return ParseWhole<uint64_t>(s, 10); }

std::optional<int64_t> ParseSigned(std::string_view s) { return ParseWhole<int64_t>(s, 10); }

std::optional<uint64_t> ParseHex(std::string_view s) {
  if (s.size() > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) s.remove_prefix(2);
  return ParseWhole<uint64_t>(s, 16);
}

std::optional<Dim3> ParseTriple(std::string_view s) {
  uint32_t part[3] = {};
  for (int i = 0; i < 3; ++i) {
    const size_t comma = s.find(',');
    if ((comma == std::string_view::npos) != (i == 2)) return std::nullopt;
    const std::optional<uint64_t> value = ParseUnsigned(TrimBlanks(s.substr(0, comma)));
    if (!value || *value > std::numeric_limits<uint32_t>::max()) return std::nullopt;
    part[i] = static_cast<uint32_t>(*value);
    if (i < 2) s.remove_prefix(comma + 1);
  }
  return Dim3{part[0], part[1], part[2]};
}

std::string FormatTriple(const Dim3& d) { return absl::StrCat(d.x, ",", d.y, ",", d.z); }

std::string FormatHex(uint64_t value) { return absl::StrCat("0x", absl::Hex(value)); }

std::optional<KeyValue> SplitKeyValue(std::string_view line) {
  const size_t equals = line.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  return KeyValue{TrimBlanks(line.substr(0, equals)), TrimBlanks(line.substr(equals + 1))};
}

std::string Excerpt(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  return std::string(text.substr(0, max_bytes)) + "...";
}

}  // namespace sm89
