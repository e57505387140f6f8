// Takes a fat binary's entry out of its compression.
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "sim/cubin/container.h"

namespace sm89::cubin {
namespace {

// Bytes written to `out`, or -1.
int64_t UnpackLz4(std::string_view packed, std::vector<uint8_t>& out) {
  if (packed.size() > std::numeric_limits<int>::max()) return -1;
  return LZ4_decompress_safe(packed.data(), reinterpret_cast<char*>(out.data()),
                             static_cast<int>(packed.size()), static_cast<int>(out.size()));
}

int64_t UnpackZstd(std::string_view packed, std::vector<uint8_t>& out) {
  const size_t written = ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size());
  return ZSTD_isError(written) != 0 ? -1 : static_cast<int64_t>(written);
}

}  // namespace

absl::StatusOr<std::vector<uint8_t>> Unpack(const Entry& entry, const std::string& file,
                                            const ReadLimits& limits) {
  const uint64_t bound = std::min<uint64_t>(limits.image_bytes, std::numeric_limits<int>::max());
  if (entry.unpacked_bytes > bound) {
    return TooMuch(file, entry.payload.base(), absl::StrCat("image '", entry.name, "' is too large"),
                   absl::StrCat(entry.unpacked_bytes, " bytes"), absl::StrCat("at most ", bound));
  }
  const std::string_view packed = entry.payload.bytes();
  std::vector<uint8_t> out;
  if (entry.packing == Packing::kNone) {
    out.assign(packed.begin(), packed.end());
  } else {
    out.resize(entry.unpacked_bytes);
    const bool is_lz4 = entry.packing == Packing::kLz4;
    const int64_t written = is_lz4 ? UnpackLz4(packed, out) : UnpackZstd(packed, out);
    if (written != static_cast<int64_t>(entry.unpacked_bytes)) {
      return BadBytes(file, entry.payload.base(), absl::StrCat("image '", entry.name, "' does not unpack"),
                      written < 0 ? "damaged" : absl::StrCat(written, " bytes"),
                      absl::StrCat(entry.unpacked_bytes, " bytes of ", is_lz4 ? "LZ4" : "zstd"));
    }
  }
  // The text of a PTX entry is padded with zero bytes.
  while (entry.is_ptx && !out.empty() && out.back() == 0) out.pop_back();
  return out;
}

}  // namespace sm89::cubin
