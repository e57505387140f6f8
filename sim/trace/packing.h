// Checksums and bounded zstd.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace sm89 {

// CRC-32 as in zlib.
uint32_t Crc32(std::string_view bytes);

// One zstd frame that states its content size.
std::string Pack(std::string_view raw, int level);

// Unpacks one frame into exactly `raw_bytes` bytes, which the caller has bounded. The error is a plain
// DATA_LOSS text without a place; callers add file and offset.
absl::StatusOr<std::string> Unpack(std::string_view packed, uint64_t raw_bytes);

}  // namespace sm89
