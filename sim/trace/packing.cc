#include "sim/trace/packing.h"

#include <zlib.h>
#include <zstd.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"

namespace sm89 {
namespace {

struct FreeCompressor {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

}  // namespace

uint32_t Crc32(std::string_view bytes) {
  const uLong start = crc32_z(0, nullptr, 0);
  return static_cast<uint32_t>(crc32_z(start, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string Pack(std::string_view raw, int level) {
  const std::unique_ptr<ZSTD_CCtx, FreeCompressor> context(ZSTD_createCCtx());
  SM89_ASSERT(context != nullptr, "out of memory for a compressor");
  std::string packed(ZSTD_compressBound(raw.size()), '\0');
  const size_t size =
      ZSTD_compressCCtx(context.get(), packed.data(), packed.size(), raw.data(), raw.size(), level);
  SM89_ASSERT(ZSTD_isError(size) == 0, "zstd cannot fail with a bound-sized buffer");
  packed.resize(size);
  return packed;
}

absl::StatusOr<std::string> Unpack(std::string_view packed, uint64_t raw_bytes) {
  const unsigned long long stated = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (stated == ZSTD_CONTENTSIZE_ERROR || stated == ZSTD_CONTENTSIZE_UNKNOWN) {
    return absl::DataLossError("not a zstd frame with a stated size");
  }
  if (stated != raw_bytes) {
    return absl::DataLossError(
        absl::StrCat("the zstd frame states ", stated, " bytes, the index ", raw_bytes));
  }
  std::string raw(raw_bytes, '\0');
  const size_t size = ZSTD_decompress(raw.data(), raw.size(), packed.data(), packed.size());
  if (ZSTD_isError(size) != 0) {
    return absl::DataLossError(absl::StrCat("zstd: ", ZSTD_getErrorName(size)));
  }
  if (size != raw_bytes) {
    return absl::DataLossError(absl::StrCat("unpacked to ", size, " bytes instead of ", raw_bytes));
  }
  return raw;
}

}  // namespace sm89
