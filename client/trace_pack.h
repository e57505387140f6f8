// Packs a trace that lies in a folder (its list and the files that the list names, nothing else) into one
// temporary archive for the upload. The same content gives the same bytes, so that the server knows it again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/local_file.h"

namespace sm89::client {

struct PackLimits {
  uint64_t list_bytes_max = 64 << 20;
  uint64_t files_max = 200'000;
  uint64_t input_bytes_max = uint64_t{1} << 40;
};

// True for what PackTrace takes: a folder, or a list file ("kernelslist*" or "*.g").
bool NeedsPacking(const std::string& path);

// `path`: a folder that holds kernelslist.g, or a list file whose kernels lie beside it. Every fault of the
// list (absent, not a plain name, not a regular file) is reported together with its line: INVALID_ARGUMENT.
// `progress` gets (bytes read, bytes of all) and answers whether to go on (CANCELLED when not).
// The archive has no name in the file system: it vanishes with the returned object.
absl::StatusOr<LocalFile> PackTrace(const std::string& path, const PackLimits& limits,
                                    const std::function<bool(uint64_t done, uint64_t total)>& progress);

}  // namespace sm89::client
