// Reading single values strictly: no trailing text, no silent rounding, no wrap, no locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sm89::settings {

// Why a text is not the value it should be. `expected` may be empty: the setting's range then says it.
struct Problem {
  std::string message;
  std::string expected;
  std::vector<std::pair<std::string, std::string>> facts;
};

// Nothing = the text was read.
using Outcome = std::optional<Problem>;

// Decimal (leading zeros have no meaning) or 0x hexadecimal. Writes `out` only on success.
Outcome ReadUint(std::string_view text, uint64_t min, uint64_t max, uint64_t* out);

// Fixed-point decimal with at most `digits` places behind the dot: "5250.5" with 3 digits -> 5250500.
// `min` and `max` are in the same scale as `out`.
struct DecimalRange {
  int digits;
  uint64_t min;
  uint64_t max;
};
Outcome ReadDecimal(std::string_view text, const DecimalRange& range, uint64_t* out);
// The shortest text that ReadDecimal takes back to `scaled`.
std::string WriteDecimal(uint64_t scaled, int digits);

// 0 or 1; true and false are accepted too.
Outcome ReadBool(std::string_view text, bool* out);

// Pieces between separators; an empty text is one empty piece.
std::vector<std::string_view> Split(std::string_view text, char separator);

// Text safe to show and to send: valid UTF-8 is kept, control characters and stray bytes become \xNN,
// and more than 200 bytes are cut with "...".
std::string Printable(std::string_view text);

// Levenshtein distance, or `limit` when it is not below it; texts over 128 bytes are compared by their
// first 128.
size_t EditDistance(std::string_view a, std::string_view b, size_t limit);

}  // namespace sm89::settings
