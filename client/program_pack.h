// Packs machine code and the launches that run it into one temporary file for the upload: a program package
// (PROGRAM.md). Files that no selected launch needs stay at home. Equal content gives equal bytes, so that
// the server knows it again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/local_file.h"

namespace sm89::client {

struct ProgramFiles {
  // One launch file with the code of its kernels: cubin, fat binary, host program or library, PTX.
  std::string cubin;
  std::string launch;
  // Or a manifest with the folder of its cubins, MODULE.sm_NN.cubin.
  std::string suite;
  std::string cubin_folder;
  uint32_t arch = 89;
  std::vector<std::string> cases;  // ids, in order; empty = all
  std::string name;                // instead of the code's or the manifest's file name
};

// INVALID_ARGUMENT with the files and the place at fault. What is checked here is what packing needs; the
// server checks everything.
absl::StatusOr<LocalFile> PackProgram(const ProgramFiles& files);

// The package's bytes, for tests and for callers that keep them.
absl::StatusOr<std::string> ProgramBytes(const ProgramFiles& files);

// "89", "sm_89" -> 89.
absl::StatusOr<uint32_t> ParseArch(std::string_view text);

}  // namespace sm89::client
