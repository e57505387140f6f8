// Puts a kernel and the functions that it calls from other sections into one code image and applies
// relocations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/cubin/module.h"
#include "sim/emu/program.h"

namespace sm89::emu {

struct LinkedCode {
  std::vector<uint8_t> bytes;
  std::vector<Placed> placed;        // kernel first, at instruction 0
  std::vector<uint8_t> globals;      // Module::globals with the addresses filled in
  std::vector<std::string> imports;  // symbols of other files: number i has the address kImportBase + 16 i
};

// `banks` takes the constant banks' relocated values.
absl::StatusOr<LinkedCode> LinkCode(const cubin::Module& module, const cubin::Function& kernel,
                                    const LinkValues& values, ConstantBanks* banks);

}  // namespace sm89::emu
