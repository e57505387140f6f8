// Containers of images: fat binaries, host ELF files and archives of them. Finds entries; unpacks one on
// request. Internal to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/cubin/byte_view.h"
#include "sim/cubin/reader.h"

namespace sm89::cubin {

enum class Packing { kNone, kLz4, kZstd };

struct Entry {
  bool is_ptx = false;
  uint32_t arch = 0;
  std::string name;  // "file[3] sm_89"
  ByteView payload;  // packed, in the file
  Packing packing = Packing::kNone;
  uint64_t unpacked_bytes = 0;
};

// `bytes` must outlive the entries.
absl::StatusOr<std::vector<Entry>> ListEntries(std::string_view bytes, const std::string& name,
                                               const ReadLimits& limits);

absl::StatusOr<std::vector<uint8_t>> Unpack(const Entry& entry, const std::string& file,
                                            const ReadLimits& limits);

}  // namespace sm89::cubin
