// Opens cubins, fat binaries and host executables or libraries that hold them. Untrusted input: every offset
// is checked, every size bounded, a fault names file, byte offset and reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/cubin/module.h"

namespace sm89::cubin {

struct ReadLimits {
  uint64_t file_bytes = uint64_t{1} << 30;
  uint64_t image_bytes = uint64_t{256} << 20;  // one cubin, unpacked
  uint32_t images = 4096;
};

// One entry of a container.
struct Image {
  bool is_ptx = false;
  uint32_t arch = 0;           // 89
  std::string name;            // "file.o[3] sm_89"
  std::vector<uint8_t> bytes;  // unpacked: an ELF cubin or PTX text
};

// A cubin ELF alone. `name` is used in messages.
absl::StatusOr<Module> ParseCubin(std::string_view bytes, const std::string& name,
                                  const ReadLimits& limits = {});

// All images of a file's bytes: one for a plain cubin, all entries of a fat binary, of a host ELF's
// .nv_fatbin section, of an archive's members.
absl::StatusOr<std::vector<Image>> ListImages(std::string_view bytes, const std::string& name,
                                              const ReadLimits& limits = {});

// Reads `path` and gives the module for `arch`: exact match first, then an older sm_8x with equal encodings.
// An error lists the architectures that are there. A file that holds several modules with kernels for it (a
// program of more than one source) is refused: choose by kernel, below.
absl::StatusOr<Module> OpenCubin(const std::string& path, uint32_t arch = 89, const ReadLimits& limits = {});

// The module that has `kernel`.
absl::StatusOr<Module> OpenCubinWith(const std::string& path, const std::string& kernel, uint32_t arch = 89,
                                     const ReadLimits& limits = {});

// All modules of the architecture that OpenCubin would take, in the file's order.
absl::StatusOr<std::vector<Module>> OpenModules(const std::string& path, uint32_t arch = 89,
                                                const ReadLimits& limits = {});
// The same of a file's bytes; `name` is used in messages.
absl::StatusOr<std::vector<Module>> ModulesOf(std::string_view bytes, const std::string& name,
                                              uint32_t arch = 89, const ReadLimits& limits = {});

}  // namespace sm89::cubin
