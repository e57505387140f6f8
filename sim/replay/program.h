// A program to emulate, in one piece: the cubins, the launches, and the raw files that the launches read. It
// is what `sm89 submit --cubin` sends and what the server keeps (PROGRAM.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace sm89 {

struct Program {
  std::string name;         // for reports: the cubin's or the manifest's plain name
  uint32_t arch = 89;       // which of a cubin's images, and of a manifest's cubins
  std::string launch_name;  // plain name of the launch file or manifest
  std::string launch_text;
  std::vector<std::string> cases;              // ids to run, in order; empty = all
  std::map<std::string, std::string> modules;  // manifest module -> file bytes; one launch file: "" -> bytes
  std::map<std::string, std::string> raw_files;  // name as the launch file has it -> bytes
};

// Where a program comes from on this machine. Exactly one of cubin and cubin_folder is set.
struct ProgramPaths {
  std::string cubin;         // cubin, fat binary, host executable or library
  std::string cubin_folder;  // of a manifest: MODULE.sm_ARCH.cubin
  std::string launches;      // launch file or manifest
  uint32_t arch = 89;
  std::vector<std::string> cases;
};

inline constexpr uint64_t kMaxProgramBytes = uint64_t{2} << 30;

// Reads every file that the selected launches need and nothing else.
absl::StatusOr<Program> CollectProgram(const ProgramPaths& paths);

// The package: magic and CBOR (RFC 8949). Equal programs give equal bytes.
std::string EncodeProgram(const Program& program);
// INVALID_ARGUMENT naming `name` when the bytes are not a package.
absl::StatusOr<Program> DecodeProgram(std::string_view bytes, const std::string& name);
absl::StatusOr<Program> ReadProgramFile(const std::string& path);
// By its magic.
bool IsProgramFile(const std::string& path);

// SHA-256 (hex) over everything that decides what is executed; not the names of the program and the launch
// file.
std::string ProgramDigest(const Program& program);

}  // namespace sm89
