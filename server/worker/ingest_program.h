// Checks an uploaded program package without running it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace sm89 {

struct IngestedProgram {
  std::string digest;
  uint64_t file_bytes = 0;
  uint64_t launches = 0;
  std::vector<std::string> marks;  // "emulated: ...", "compiled: ...", "machine_code: ..."
};

// Reads the package `input`, compiles modules that are PTX with the compiler at path `ptxas` (empty = none),
// prepares every launch (code, kernels, arguments, bounds, mnemonics) and writes the canonical package to
// `output`. The program is called as the upload is.
absl::StatusOr<IngestedProgram> IngestProgram(const std::string& input, const std::string& output,
                                              const std::string& ptxas);

// Reads machine code that jobs are to name beside a trace (sim/api/machine_code.h) and writes it to `output`
// as it is; `launches` counts its functions. RESOURCE_EXHAUSTED naming max_unpacked_bytes when its images
// have more bytes together.
absl::StatusOr<IngestedProgram> IngestMachineCode(const std::string& input, const std::string& output,
                                                  uint64_t max_unpacked_bytes);

}  // namespace sm89
