#pragma once

#include <cstddef>
#include <string>

namespace sm89 {

// The first `bytes_max` bytes or a few less: never a part of a UTF-8 character.
inline std::string CutText(const std::string& text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace sm89
