#include "sim/cubin/byte_view.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace sm89::cubin {
namespace {

Fault FaultAt(const std::string& file, uint64_t offset, const std::string& message, const std::string& value,
              const std::string& expected) {
  Fault fault;
  fault.file = file;
  fault.field = "byte " + Hex(offset);
  fault.value = value;
  fault.expected = expected;
  fault.message = message;
  fault.facts = {{"offset", absl::StrCat(offset)}};
  return fault;
}

}  // namespace

std::string Hex(uint64_t value) { return absl::StrCat("0x", absl::Hex(value)); }

std::string Quoted(std::string_view name) {
  constexpr size_t kShown = 200;
  std::string out = "'";
  out += name.substr(0, kShown);
  out += name.size() > kShown ? "...'" : "'";
  return out;
}

absl::Status BadBytes(const std::string& file, uint64_t offset, const std::string& message,
                      const std::string& value, const std::string& expected) {
  return InputError(absl::StatusCode::kInvalidArgument, FaultAt(file, offset, message, value, expected));
}

absl::Status TooMuch(const std::string& file, uint64_t offset, const std::string& message,
                     const std::string& value, const std::string& expected) {
  return InputError(absl::StatusCode::kResourceExhausted, FaultAt(file, offset, message, value, expected));
}

uint64_t ByteView::Uleb() {
  uint64_t value = 0;
  for (uint32_t shift = 0; ok_; shift += 7) {
    const uint8_t byte = U8();
    if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80) == 0) break;
    shift = std::min(shift, uint32_t{64});
  }
  return value;
}

int64_t ByteView::Sleb() {
  uint64_t value = 0;
  uint32_t shift = 0;
  while (ok_) {
    const uint8_t byte = U8();
    if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
    shift = std::min(shift + 7, uint32_t{70});
    if ((byte & 0x80) != 0) continue;
    if (shift < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << shift;
    break;
  }
  return static_cast<int64_t>(value);
}

std::string_view ByteView::CString(uint64_t limit) {
  const std::string_view window = bytes_.substr(at_, limit);
  const size_t end = window.find('\0');
  if (end == std::string_view::npos) {
    ok_ = false;
    at_ = bytes_.size();
    return {};
  }
  at_ += end + 1;
  return window.substr(0, end);
}

}  // namespace sm89::cubin
