// Little-endian and variable-length numbers in byte strings.
//
// A varint is LEB128 (7 bits a byte, lowest first, at most 10 bytes); a zigzag is a varint that folds the
// sign into bit 0, so that small negative numbers stay short.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace sm89 {

inline constexpr size_t kMaxVarintBytes = 10;

// Writes at `at`, which has room for kMaxVarintBytes; returns the end.
inline char* WriteVarint(char* at, uint64_t value) {
  while (value >= 0x80) {
    *at++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<char>(value);
  return at;
}

inline void AppendVarint(std::string* out, uint64_t value) {
  if (value < 0x80) [[likely]] {
    out->push_back(static_cast<char>(value));
    return;
  }
  char bytes[kMaxVarintBytes];
  out->append(bytes, static_cast<size_t>(WriteVarint(bytes, value) - bytes));
}

// `value` is a wrapping 64-bit difference.
constexpr uint64_t ToZigzag(uint64_t value) { return (value << 1) ^ (uint64_t{0} - (value >> 63)); }
constexpr uint64_t FromZigzag(uint64_t folded) { return (folded >> 1) ^ (uint64_t{0} - (folded & 1)); }

inline void AppendZigzag(std::string* out, uint64_t value) { AppendVarint(out, ToZigzag(value)); }

inline void AppendLittleEndian(std::string* out, uint64_t value, int bytes) {
  char buffer[sizeof(value)];
  for (int i = 0; i < bytes; ++i) buffer[i] = static_cast<char>(value >> (8 * i));
  out->append(buffer, static_cast<size_t>(bytes));
}

inline void AppendBytes(std::string* out, std::string_view bytes) {
  AppendVarint(out, bytes.size());
  out->append(bytes);
}

// Reads forward and never past the end. After the first failed read `ok()` stays false and every read
// gives 0, so a parser may check once a record.
class ByteReader {
 public:
  ByteReader() = default;
  explicit ByteReader(std::string_view bytes)
      : begin_(reinterpret_cast<const uint8_t*>(bytes.data())), at_(begin_), end_(begin_ + bytes.size()) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return at_ == end_; }
  size_t offset() const { return static_cast<size_t>(at_ - begin_); }
  size_t remaining() const { return static_cast<size_t>(end_ - at_); }
  void Fail() {
    ok_ = false;
    at_ = end_;
  }

  uint8_t U8() {
    if (at_ == end_) [[unlikely]] {
      Fail();
      return 0;
    }
    return *at_++;
  }

  uint64_t LittleEndian(int bytes) {
    if (remaining() < static_cast<size_t>(bytes)) {
      Fail();
      return 0;
    }
    uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= uint64_t{*at_++} << (8 * i);
    return value;
  }

  uint64_t Varint() {
    if (at_ != end_ && *at_ < 0x80) [[likely]] {
      return *at_++;
    }
    return LongVarint();
  }

  uint64_t Zigzag() { return FromZigzag(Varint()); }

  // A varint that must be below `limit`; fails otherwise.
  uint64_t VarintBelow(uint64_t limit) {
    const uint64_t value = Varint();
    if (value >= limit) {
      Fail();
      return 0;
    }
    return value;
  }

  // How many items of at least `item_bytes` each follow; fails when they cannot all be there or are more
  // than `limit`.
  uint64_t Count(size_t item_bytes, uint64_t limit = UINT64_MAX) {
    const uint64_t value = Varint();
    if (value > limit || value > remaining() / item_bytes) {
      Fail();
      return 0;
    }
    return value;
  }

  // View into the underlying bytes.
  std::string_view Raw(uint64_t bytes) {
    if (bytes > remaining()) {
      Fail();
      return {};
    }
    const std::string_view view(reinterpret_cast<const char*>(at_), bytes);
    at_ += bytes;
    return view;
  }

  // A length-prefixed string.
  std::string_view Bytes() { return Raw(Varint()); }

 private:
  uint64_t LongVarint() {
    if constexpr (std::endian::native == std::endian::little) {
      if (remaining() >= sizeof(uint64_t)) {
        uint64_t word = 0;
        std::memcpy(&word, at_, sizeof(word));
        // The lowest byte without its top bit ends the number; beyond 8 bytes the slow way decides.
        const uint64_t ends = ~word & 0x8080808080808080u;
        if (ends != 0) [[likely]] {
          const int last = std::countr_zero(ends);  // its top bit
          at_ += last / 8 + 1;
          return Squeeze(word & (~uint64_t{0} >> (63 - last)));
        }
      }
    }
    return SlowVarint();
  }

  // Drops the top bit of each byte: eight groups of 7 bits become one number of 56.
  static constexpr uint64_t Squeeze(uint64_t word) {
    word &= 0x7F7F7F7F7F7F7F7Fu;
    word = (word & 0x007F007F007F007Fu) | (word & 0x7F007F007F007F00u) >> 1;
    word = (word & 0x00003FFF00003FFFu) | (word & 0x3FFF00003FFF0000u) >> 2;
    return (word & 0x000000000FFFFFFFu) | (word & 0x0FFFFFFF00000000u) >> 4;
  }

  uint64_t SlowVarint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) break;
      const uint8_t byte = *at_++;
      if (shift == 63 && byte > 1) break;
      value |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    Fail();
    return 0;
  }

  const uint8_t* begin_ = nullptr;
  const uint8_t* at_ = nullptr;
  const uint8_t* end_ = nullptr;
  bool ok_ = true;
};

}  // namespace sm89
