// Small scanners over text: blanks, numbers, "key = value". No locale, no allocation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/types.h"

namespace sm89 {

constexpr bool IsBlank(char c) { return c == ' ' || c == '\t'; }

constexpr std::string_view TrimBlanks(std::string_view s) {
  while (!s.empty() && IsBlank(s.front())) s.remove_prefix(1);
  while (!s.empty() && IsBlank(s.back())) s.remove_suffix(1);
  return s;
}

// The whole text as a number; nothing for an empty text, junk, or a value out of range.
std::optional<uint64_t> ParseUnsigned(std::string_view s);
std::optional<int64_t> ParseSigned(std::string_view s);
// Hexadecimal with or without 0x / 0X.
std::optional<uint64_t> ParseHex(std::string_view s);
// "x,y,z" with blanks allowed around the numbers.
std::optional<Dim3> ParseTriple(std::string_view s);
// "x,y,z", as CTA ids are written everywhere.
std::string FormatTriple(const Dim3& d);
// "0x30": how program counters and addresses are written in messages.
std::string FormatHex(uint64_t value);

// "key = value" split at the first '=', both sides trimmed; nothing without '='.
struct KeyValue {
  std::string_view key;
  std::string_view value;
};
std::optional<KeyValue> SplitKeyValue(std::string_view line);

// At most `max_bytes` of `text` for a message, "..." behind what was cut.
std::string Excerpt(std::string_view text, size_t max_bytes = 120);

}  // namespace sm89
