// Tokens and numbers of one instruction line; inline because every line of a trace goes through them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/ingest/text_scan.h"

namespace sm89 {

namespace scan_internal {
constexpr std::array<int8_t, 256> MakeHexTable() {
  std::array<int8_t, 256> table{};
  for (int i = 0; i < 256; ++i) table[static_cast<size_t>(i)] = -1;
  for (int i = 0; i < 10; ++i) table[static_cast<size_t>('0' + i)] = static_cast<int8_t>(i);
  for (int i = 0; i < 6; ++i) {
    table[static_cast<size_t>('a' + i)] = static_cast<int8_t>(10 + i);
    table[static_cast<size_t>('A' + i)] = static_cast<int8_t>(10 + i);
  }
  return table;
}
inline constexpr std::array<int8_t, 256> kHexTable = MakeHexTable();
}  // namespace scan_internal

// -1 for a character that is no hexadecimal digit.
inline int HexDigit(char c) { return scan_internal::kHexTable[static_cast<unsigned char>(c)]; }

// A place in a line. Every scanner skips blanks first and leaves the cursor behind what it took; a false
// answer leaves it anywhere.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  void SkipBlanks() {
    while (at_ != end_ && IsBlank(*at_)) ++at_;
  }
  bool AtEnd() {
    SkipBlanks();
    return at_ == end_;
  }
  std::string_view Rest() const { return {at_, static_cast<size_t>(end_ - at_)}; }
  void Advance(size_t bytes) { at_ += bytes; }
  const char* at() const { return at_; }

  // The next run of non-blanks; empty at the end.
  std::string_view Token() {
    SkipBlanks();
    const char* begin = at_;
    while (at_ != end_ && !IsBlank(*at_)) ++at_;
    return {begin, static_cast<size_t>(at_ - begin)};
  }

  // A token of hexadecimal digits, 0x before them allowed or (`need_0x`) compulsory.
  bool Hex(uint64_t* out, bool need_0x = false) {
    SkipBlanks();
    const bool has_0x = end_ - at_ > 2 && at_[0] == '0' && (at_[1] == 'x' || at_[1] == 'X');
    if (has_0x) {
      at_ += 2;
    } else if (need_0x) {
      return false;
    }
    const char* begin = at_;
    uint64_t value = 0;
    for (int digit = 0; at_ != end_ && (digit = HexDigit(*at_)) >= 0; ++at_) {
      if (value >> 60 != 0) return false;
      value = value << 4 | static_cast<uint64_t>(digit);
    }
    *out = value;
    return at_ != begin && AtBoundary();
  }

  // A token of decimal digits, maybe signed. Values up to 2^64-1 are taken as their 64 bits.
  bool Decimal(int64_t* out) {
    SkipBlanks();
    const bool negative = at_ != end_ && *at_ == '-';
    if (negative) ++at_;
    const char* begin = at_;
    uint64_t value = 0;
    for (; at_ != end_ && *at_ >= '0' && *at_ <= '9'; ++at_) {
      const auto digit = static_cast<uint64_t>(*at_ - '0');
      if (value > (~uint64_t{0} - digit) / 10) return false;
      value = value * 10 + digit;
    }
    if (negative && value > uint64_t{1} << 63) return false;
    *out = static_cast<int64_t>(negative ? 0 - value : value);
    return at_ != begin && AtBoundary();
  }

 private:
  bool AtBoundary() const { return at_ == end_ || IsBlank(*at_); }

  const char* at_;
  const char* end_;
};

}  // namespace sm89
