// A function of a cubin with its words decoded: what every analysis starts from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/cubin/module.h"
#include "sim/sass/instruction.h"

namespace sm89::analysis {

inline constexpr uint64_t kInstBytes = 16;

// `module` and `function` must outlive this value.
struct Code {
  const cubin::Module* module = nullptr;
  const cubin::Function* function = nullptr;
  std::vector<sass::Instruction> insts;

  uint64_t PcOf(size_t index) const { return index * kInstBytes; }
  // Line 0 without line information.
  cubin::SourceLine LineOf(size_t index) const;
  cubin::SourceLine PtxLineOf(size_t index) const;
  // "" for a file number that the module does not have.
  std::string_view FileName(uint32_t file) const;
  // Instructions before the NOPs that fill the last 128 bytes of the section.
  size_t NumUsed() const;
};

// INVALID_ARGUMENT naming file, function and byte offset of the first word that does not decode.
absl::StatusOr<Code> DecodeFunction(const cubin::Module& module, const cubin::Function& function);

// "file.cu:12", "line 12" without a file name, "" for line 0.
std::string LineText(const Code& code, const cubin::SourceLine& line);

}  // namespace sm89::analysis
