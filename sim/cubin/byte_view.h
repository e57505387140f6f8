// Checked little-endian reads of untrusted bytes, and faults that say where.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "sim/base/fault.h"

namespace sm89::cubin {

// A fault at a byte of the file: InvalidArgument, field "byte 0x...", fact {"offset", decimal}.
absl::Status BadBytes(const std::string& file, uint64_t offset, const std::string& message,
                      const std::string& value = "", const std::string& expected = "");
// The same as a limit: ResourceExhausted.
absl::Status TooMuch(const std::string& file, uint64_t offset, const std::string& message,
                     const std::string& value, const std::string& expected);

std::string Hex(uint64_t value);
// 'name', cut after 200 characters.
std::string Quoted(std::string_view name);

// Bytes with the offset in the file that they start at. Reads past the end give zero and make `ok` false for
// good; the caller looks once, after a group of reads.
class ByteView {
 public:
  ByteView() = default;
  explicit ByteView(std::string_view bytes, uint64_t base = 0) : bytes_(bytes), base_(base) {}

  std::string_view bytes() const { return bytes_; }
  uint64_t size() const { return bytes_.size(); }
  uint64_t base() const { return base_; }  // of the first byte, in the file
  uint64_t at() const { return at_; }      // of the next read, in this view
  uint64_t FileOffset() const { return base_ + at_; }
  bool ok() const { return ok_; }
  bool AtEnd() const { return at_ >= bytes_.size(); }
  uint64_t Left() const { return bytes_.size() - at_; }

  bool Has(uint64_t offset, uint64_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }
  // A part; empty (and not ok) when it is not inside.
  ByteView Part(uint64_t offset, uint64_t size) const {
    if (!Has(offset, size)) {
      ByteView none;
      none.base_ = base_ + bytes_.size();
      none.ok_ = false;
      return none;
    }
    return ByteView(bytes_.substr(offset, size), base_ + offset);
  }

  void Seek(uint64_t offset) {
    if (offset > bytes_.size()) {
      ok_ = false;
      at_ = bytes_.size();
    } else {
      at_ = offset;
    }
  }
  void Skip(uint64_t size) {
    if (size > Left()) {
      ok_ = false;
      at_ = bytes_.size();
    } else {
      at_ += size;
    }
  }
  uint64_t Unsigned(uint32_t size_bytes) {  // at most 8
    if (size_bytes > Left()) {
      ok_ = false;
      at_ = bytes_.size();
      return 0;
    }
    uint64_t value = 0;
    for (uint32_t i = 0; i < size_bytes; ++i) {
      value |= uint64_t{static_cast<unsigned char>(bytes_[at_ + i])} << (8 * i);
    }
    at_ += size_bytes;
    return value;
  }
  uint8_t U8() { return static_cast<uint8_t>(Unsigned(1)); }
  uint16_t U16() { return static_cast<uint16_t>(Unsigned(2)); }
  uint32_t U32() { return static_cast<uint32_t>(Unsigned(4)); }
  uint64_t U64() { return Unsigned(8); }
  // LEB128; more than 64 bits are cut off.
  uint64_t Uleb();
  int64_t Sleb();
  // Up to a zero byte, which is passed; not ok when none comes within `limit` bytes.
  std::string_view CString(uint64_t limit);

 private:
  std::string_view bytes_;
  uint64_t base_ = 0;
  uint64_t at_ = 0;
  bool ok_ = true;
};

}  // namespace sm89::cubin
